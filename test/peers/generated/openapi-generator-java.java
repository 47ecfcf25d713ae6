import java.util.Locale;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AccountApi;
import org.openapitools.client.api.TransactionApi;
import org.openapitools.client.model.CreateAccountRequest;
import org.openapitools.client.model.MintRequest;
import org.openapitools.client.model.MintRequestAmount;
import org.openapitools.client.model.Redeem422Response;
import org.openapitools.client.model.RedeemRequest;
import org.openapitools.client.model.RedeemRequestAmount;

class Client {
  static final String USER = System.getenv("KESC_USER");

  public static void main(String[] parameters) throws Exception {
    ApiClient client = new ApiClient().setBasePath(System.getenv("KESC_URL"));
    client.setApiKey(System.getenv("KESC_API_KEY"));
    AccountApi accounts = new AccountApi(client);
    TransactionApi transactions = new TransactionApi(client);

    CreateAccountRequest opened = new CreateAccountRequest().userId(USER).phoneNumber("0712345678");
    String id = accounts.createAccount(opened.email("wanjiku@example.co.ke"), null, null, null).getId();
    Number minted = mint(transactions, id, new MintRequestAmount("12345678901.23"), "-cents");
    Number whole = mint(transactions, id, new MintRequestAmount(3000000000.0), "-whole");
    Number balance = accounts.getAccount(id, null, null, null, null).getAvailableBalance();

    RedeemRequestAmount amount = new RedeemRequestAmount("99999999999.99");
    RedeemRequest request = new RedeemRequest().accountId(id).amount(amount).reference(USER + "-too-much");
    String refused = "nothing";
    try {
      transactions.redeem(request.rail("direct"), null, null, null);
    } catch (ApiException refusal) {
      Redeem422Response problem = Redeem422Response.fromJson(refusal.getResponseBody());
      refused = problem.getInsufficientFundsProblem().getCode().getValue();
    }
    String line = "{\"minted\":\"%.2f\",\"whole\":\"%.2f\",\"balance\":\"%.2f\",\"refused\":\"%s\"}%n";
    System.out.printf(Locale.ROOT, line, minted, whole, balance, refused);
  }

  static Number mint(TransactionApi transactions, String id, MintRequestAmount amount, String reference)
      throws ApiException {
    MintRequest request = new MintRequest().accountId(id).amount(amount).reference(USER + reference);
    return transactions.mint(request.rail("direct"), null, null, null).getAmount();
  }
}
