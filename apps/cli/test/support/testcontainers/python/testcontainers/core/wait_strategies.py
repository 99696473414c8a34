"""Stands in for the wait strategies of testcontainers."""

import urllib.request


class HttpWaitStrategy:
    def __init__(self, port, path="/"):
        self.port = port
        self.path = path

    def wait_until_ready(self, container):
        url = f"http://{container.get_container_host_ip()}:{container.get_exposed_port(self.port)}{self.path}"
        with urllib.request.urlopen(url) as response:
            assert response.status == 200
