use openapi::apis::configuration::{ApiKey, Configuration};
use openapi::apis::transaction_api::RedeemError;
use openapi::apis::{account_api, transaction_api, Error};
use openapi::models::{CreateAccountRequest, MintRequest, MintRequestAmount, RedeemRequest, RedeemRequestAmount};

fn env(name: &str) -> String {
    std::env::var(name).unwrap()
}

async fn mint(configuration: &Configuration, account_id: &str, amount: MintRequestAmount, reference: &str) -> f64 {
    let mut request = MintRequest::new(account_id.into(), amount, env("KESC_USER") + reference);
    request.rail = Some(Some("direct".into()));
    transaction_api::mint(configuration, request, None, None, None)
        .await
        .unwrap()
        .amount
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let api_key = Some(ApiKey {
        prefix: None,
        key: env("KESC_API_KEY"),
    });
    let configuration = Configuration {
        base_path: env("KESC_URL"),
        api_key,
        ..Configuration::default()
    };

    let mut opened = CreateAccountRequest::new(env("KESC_USER"), "0712345678".into());
    opened.email = Some(Some("wanjiku@example.co.ke".into()));
    let account = account_api::create_account(&configuration, opened, None, None, None)
        .await
        .unwrap();
    let cents = MintRequestAmount::String("12345678901.23".into());
    let minted = mint(&configuration, &account.id, cents, "-cents").await;
    let whole = mint(
        &configuration,
        &account.id,
        MintRequestAmount::Number(3_000_000_000.0),
        "-whole",
    )
    .await;
    let read = account_api::get_account(&configuration, &account.id, None, None, None, None)
        .await
        .unwrap();
    let balance = read.available_balance;

    let amount = RedeemRequestAmount::String("99999999999.99".into());
    let mut request = RedeemRequest::new(account.id, amount, env("KESC_USER") + "-too-much");
    request.rail = Some(Some("direct".into()));
    let refused = match transaction_api::redeem(&configuration, request, None, None, None).await {
        Err(Error::ResponseError(content)) => match content.entity {
            // Redeem422Response never parses: serde takes `code` as the tag, and each problem wants it, too.
            Some(RedeemError::UnknownValue(problem)) => problem["code"].as_str().unwrap().into(),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    };
    println!("{{\"minted\":\"{minted:.2}\",\"whole\":\"{whole:.2}\",\"balance\":\"{balance:.2}\",\"refused\":\"{refused}\"}}");
}
