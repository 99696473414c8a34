// Package wait stands in for the wait strategies of testcontainers.
package wait

import (
	"context"
	"fmt"
	"net/http"
)

type Strategy interface {
	WaitUntilReady(ctx context.Context, endpoint func(port string) (string, error)) error
}

type HTTPStrategy struct{ path, port string }

func ForHTTP(path string) *HTTPStrategy { return &HTTPStrategy{path: path} }

func (s *HTTPStrategy) WithPort(port string) *HTTPStrategy {
	s.port = port
	return s
}

func (s *HTTPStrategy) WaitUntilReady(_ context.Context, endpoint func(port string) (string, error)) error {
	url, err := endpoint(s.port)
	if err != nil {
		return err
	}
	response, err := http.Get(url + s.path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responds with %s", url+s.path, response.Status)
	}
	return nil
}
