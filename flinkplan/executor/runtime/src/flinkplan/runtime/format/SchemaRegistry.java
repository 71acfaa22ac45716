package flinkplan.runtime.format;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.Serializable;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;

/** The schemas of a registry by their ids, each asked for once in a process: they never change. */
final class SchemaRegistry implements Serializable {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Map<String, Schema> SCHEMAS = new ConcurrentHashMap<>();
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final String[] addresses;
    private final String authorization;

    /** @param addresses those of its servers, between commas; @param authorization the header of that name, or null */
    SchemaRegistry(String addresses, String authorization) {
        this.addresses = addresses.split("\\s*,\\s*");
        this.authorization = authorization;
    }

    Schema schema(int id) throws IOException {
        IOException failure = null;
        for (String address : addresses) {
            String place = address.replaceAll("/+$", "") + "/schemas/ids/" + id;
            Schema known = SCHEMAS.get(place);
            try {
                if (known == null) {
                    known = ask(place, id);
                    SCHEMAS.put(place, known);
                }
                return known;
            } catch (IOException e) {
                failure = e;
            }
        }
        throw failure;
    }

    private Schema ask(String place, int id) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(place)).timeout(PATIENCE);
        request.header("Accept", "application/vnd.schemaregistry.v1+json, application/json");
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        HttpResponse<String> response;
        try {
            response = Client.HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } catch (IOException e) {
            throw new IOException("the schema registry does not answer: " + place, e);
        }
        if (response.statusCode() == 404) {
            throw new IOException("the schema registry has no schema " + id);
        }
        if (response.statusCode() != 200) {
            throw new IOException("the schema registry answers with the status " + response.statusCode() + ": " + place);
        }
        return parse(MAPPER.readTree(response.body()), id);
    }

    private static Schema parse(JsonNode answer, int id) throws IOException {
        if (!answer.path("schemaType").asText("AVRO").equals("AVRO")) {
            throw new IOException("the schema " + id + " of the registry is none of Avro");
        }
        if (answer.path("references").size() > 0) {
            throw new IOException("the schema " + id + " of the registry refers to others, which is not executed here");
        }
        try {
            return new Schema.Parser().parse(answer.path("schema").asText());
        } catch (SchemaParseException e) {
            throw new IOException("the schema " + id + " of the registry cannot be read: " + e.getMessage(), e);
        }
    }

    private static final class Client {
        static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    }
}
