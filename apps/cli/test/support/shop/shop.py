import json
import urllib.error
import urllib.parse
import urllib.request


def set_stock(base_url, api_key, product, stock, attempts=3):
    """Sets the stock of a product. It may be repeated, so it tries again after a failure of the service."""
    url = f"{base_url}/store/products/{urllib.parse.quote(product, safe='')}/stock"
    headers = {"authorization": f"Bearer {api_key}", "content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps({"stock": stock}).encode(), headers, method="PATCH")
    for attempt in range(1, attempts + 1):
        try:
            with urllib.request.urlopen(request):
                return
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt == attempts:
                raise
