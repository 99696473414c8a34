"""Stands in for the container of testcontainers: starts the program on a free port."""

import os
import re
import subprocess


class DockerContainer:
    def __init__(self, image):
        assert image == os.environ["IMAGE_NAME"], image
        self.ports = ()
        self.strategy = None

    def with_exposed_ports(self, *ports):
        self.ports = ports
        return self

    def waiting_for(self, strategy):
        self.strategy = strategy
        return self

    def start(self):
        words = ["plaza", *os.environ["IMAGE_COMMAND"].split(" ")]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline()).group(1))
        self.strategy.wait_until_ready(self)
        return self

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def get_container_host_ip(self):
        return "localhost"

    def get_exposed_port(self, port):
        assert port in self.ports, port
        return self.port
