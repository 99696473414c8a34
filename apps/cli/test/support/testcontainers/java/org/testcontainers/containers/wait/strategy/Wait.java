package org.testcontainers.containers.wait.strategy;

/** Stands in for the class of this name. */
public class Wait {
  public static HttpWaitStrategy forHttp(String path) {
    return new HttpWaitStrategy(path);
  }
}
