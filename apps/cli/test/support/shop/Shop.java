import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

class Shop {
  /** Sets the stock of a product. It may be repeated, so it tries again after a failure of the service. */
  static void setStock(String baseUrl, String apiKey, String product, int stock) throws IOException, InterruptedException {
    var request = HttpRequest.newBuilder(URI.create(baseUrl + "/store/products/" + product + "/stock"))
        .header("authorization", "Bearer " + apiKey)
        .header("content-type", "application/json")
        .method("PATCH", HttpRequest.BodyPublishers.ofString("{\"stock\":" + stock + "}"))
        .build();
    int status = 500;
    for (int attempt = 0; attempt < 3 && status >= 500; attempt++) {
      status = HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
    }
    if (status >= 400) {
      throw new IOException("the stock of " + product + " is not set: " + status);
    }
  }
}
