package shop

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// SetStock sets the stock of a product. It may be repeated, so it tries again after a failure of the service.
func SetStock(baseURL, apiKey, product string, stock int) error {
	var status string
	for attempt := 0; attempt < 3; attempt++ {
		body := strings.NewReader(fmt.Sprintf(`{"stock":%d}`, stock))
		request, err := http.NewRequest("PATCH", baseURL+"/store/products/"+url.PathEscape(product)+"/stock", body)
		if err != nil {
			return err
		}
		request.Header.Set("authorization", "Bearer "+apiKey)
		request.Header.Set("content-type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			status = err.Error()
			continue
		}
		response.Body.Close()
		if response.StatusCode < 400 {
			return nil
		}
		status = response.Status
		if response.StatusCode < 500 {
			break
		}
	}
	return fmt.Errorf("the stock of %s is not set: %s", product, status)
}
