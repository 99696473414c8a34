package org.testcontainers.containers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.testcontainers.containers.wait.strategy.HttpWaitStrategy;
import org.testcontainers.utility.DockerImageName;

/** Stands in for the class of this name: starts the program on a free port. */
public class GenericContainer<SELF extends GenericContainer<SELF>> {
  private List<Integer> ports = List.of();
  private HttpWaitStrategy strategy;
  private Process process;
  private int port;

  public GenericContainer(DockerImageName image) {
    if (!image.name().equals(System.getenv("IMAGE_NAME"))) {
      throw new IllegalArgumentException(image.name());
    }
  }

  @SuppressWarnings("unchecked")
  private SELF self() {
    return (SELF) this;
  }

  public SELF withExposedPorts(Integer... exposed) {
    ports = Arrays.asList(exposed);
    return self();
  }

  public SELF waitingFor(HttpWaitStrategy waitStrategy) {
    strategy = waitStrategy;
    return self();
  }

  public void start() {
    List<String> words = new ArrayList<>(List.of("plaza"));
    words.addAll(List.of(System.getenv("IMAGE_COMMAND").split(" ")));
    try {
      process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String line = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
      Matcher matcher = Pattern.compile(":(\\d+)/").matcher(line);
      if (!matcher.find()) {
        throw new IllegalStateException(line);
      }
      port = Integer.parseInt(matcher.group(1));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    strategy.waitUntilReady(this);
  }

  public void stop() {
    try {
      process.getOutputStream().close();
      process.waitFor();
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  public String getHost() {
    return "localhost";
  }

  public Integer getMappedPort(int exposed) {
    if (!ports.contains(exposed)) {
      throw new IllegalArgumentException("the port " + exposed + " is not exposed");
    }
    return port;
  }
}
