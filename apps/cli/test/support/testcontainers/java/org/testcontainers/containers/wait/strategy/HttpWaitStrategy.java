package org.testcontainers.containers.wait.strategy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import org.testcontainers.containers.GenericContainer;

/** Stands in for the class of this name. */
public class HttpWaitStrategy {
  private final String path;
  private int port;

  HttpWaitStrategy(String path) {
    this.path = path;
  }

  public HttpWaitStrategy forPort(int port) {
    this.port = port;
    return this;
  }

  public void waitUntilReady(GenericContainer<?> container) {
    String url = "http://" + container.getHost() + ":" + container.getMappedPort(port) + path;
    try {
      int status = ((HttpURLConnection) URI.create(url).toURL().openConnection()).getResponseCode();
      if (status != 200) {
        throw new IllegalStateException(url + " responds with " + status);
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
