// KESC_API_KEY is a key, KESC_ADDRESS the gRPC address, KESC the folder of the service. Needs Java 17, Maven, protoc and
// gRPC's plugin: that of Maven Central (io.grpc:protoc-gen-grpc-java) or Debian's protobuf-compiler-grpc-java-plugin.
// In an empty folder with this file and pom.xml:
//
//   cp -r "$KESC/dist/proto/include" proto
//   mkdir gen
//   protos="proto/google/api/*.proto proto/google/rpc/*.proto proto/kesc/v1/*.proto"
//   protoc -I proto --java_out=gen --grpc_out=gen --plugin=protoc-gen-grpc=$(which grpc_java_plugin) $protos
//   mvn -q compile exec:java -Dexec.mainClass=Client
import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import kesc.v1.AccountServiceGrpc;
import kesc.v1.CreateAccountRequest;
import kesc.v1.MintRequest;
import kesc.v1.TransactionServiceGrpc;

public class Client {
  // The service repeats nothing by itself. After UNAVAILABLE a repeat is safe, because of the reference.
  private static final Map<String, ?> RETRIES =
      Map.of("methodConfig", List.of(Map.of(
          "name", List.of(Map.of("service", "kesc.v1.AccountService"), Map.of("service", "kesc.v1.TransactionService")),
          "retryPolicy", Map.of(
              "maxAttempts", 5.0, "initialBackoff", "0.1s", "maxBackoff", "5s", "backoffMultiplier", 2.0,
              "retryableStatusCodes", List.of("UNAVAILABLE")))));

  public static void main(String[] args) throws Exception {
    String address = System.getenv().getOrDefault("KESC_ADDRESS", "127.0.0.1:50051");
    ManagedChannel channel =
        ManagedChannelBuilder.forTarget(address).usePlaintext().defaultServiceConfig(RETRIES).enableRetry().build();
    Metadata key = new Metadata();
    key.put(Metadata.Key.of("x-api-key", Metadata.ASCII_STRING_MARSHALLER), System.getenv("KESC_API_KEY").strip());
    var withKey = MetadataUtils.newAttachHeadersInterceptor(key);
    var accounts = AccountServiceGrpc.newBlockingStub(channel).withInterceptors(withKey);
    var transactions = TransactionServiceGrpc.newBlockingStub(channel).withInterceptors(withKey);
    String user = UUID.randomUUID().toString();

    var opening = CreateAccountRequest.newBuilder().setUserId(user).setPhoneNumber("0712345678").build();
    var account = accounts.withDeadlineAfter(10, TimeUnit.SECONDS).createAccount(opening).getAccount();
    System.out.println("account " + account.getId());

    MintRequest deposit =
        MintRequest.newBuilder()
            .setAccountId(account.getId())
            .setAmount("1000.00")
            .setReference("deposit-" + user)
            .setRail("direct")
            .build();
    var minted = transactions.withDeadlineAfter(10, TimeUnit.SECONDS).mint(deposit).getTransaction();
    System.out.println("minted " + minted.getAmount());

    try {
      // Another amount under the same reference is a mistake of the caller.
      MintRequest other = deposit.toBuilder().setAmount("2000.00").build();
      transactions.withDeadlineAfter(10, TimeUnit.SECONDS).mint(other);
    } catch (StatusRuntimeException error) {
      // An error without details comes from the library or from a proxy: read error.getStatus() then.
      for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
        if (!detail.is(ErrorInfo.class)) continue;
        ErrorInfo info = detail.unpack(ErrorInfo.class);
        System.out.println("refused: " + info.getReason() + " " + info.getMetadataOrThrow("differing_fields"));
      }
    }
    channel.shutdownNow();
  }
}
