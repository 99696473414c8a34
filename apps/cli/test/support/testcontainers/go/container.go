// Package testcontainers stands in for the library of this name: it starts the program on a free port.
package testcontainers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/testcontainers/testcontainers-go/wait"
)

type ContainerRequest struct {
	Image        string
	ExposedPorts []string
	WaitingFor   wait.Strategy
}

type GenericContainerRequest struct {
	ContainerRequest
	Started bool
}

type Container interface {
	PortEndpoint(ctx context.Context, port string, proto string) (string, error)
	Terminate(ctx context.Context) error
}

type process struct {
	command *exec.Cmd
	input   io.Closer
	port    string
	exposed []string
}

func GenericContainer(ctx context.Context, request GenericContainerRequest) (Container, error) {
	if request.Image != os.Getenv("IMAGE_NAME") || !request.Started {
		return nil, fmt.Errorf("unexpected request: %+v", request)
	}
	command := exec.Command("plaza", strings.Split(os.Getenv("IMAGE_COMMAND"), " ")...)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, err
	}
	port := regexp.MustCompile(`:(\d+)/`).FindStringSubmatch(line)[1]
	started := &process{command, input, port, request.ExposedPorts}
	return started, request.WaitingFor.WaitUntilReady(ctx, func(exposed string) (string, error) {
		return started.PortEndpoint(ctx, exposed, "http")
	})
}

func (p *process) PortEndpoint(_ context.Context, port string, proto string) (string, error) {
	for _, exposed := range p.exposed {
		if exposed == port {
			return proto + "://localhost:" + p.port, nil
		}
	}
	return "", fmt.Errorf("the port %s is not exposed", port)
}

func (p *process) Terminate(context.Context) error {
	p.input.Close()
	return p.command.Wait()
}
