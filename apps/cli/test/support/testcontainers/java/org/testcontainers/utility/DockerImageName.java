package org.testcontainers.utility;

/** Stands in for the class of this name. */
public class DockerImageName {
  private final String name;

  private DockerImageName(String name) {
    this.name = name;
  }

  public static DockerImageName parse(String name) {
    return new DockerImageName(name);
  }

  public String name() {
    return name;
  }
}
