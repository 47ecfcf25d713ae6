package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"example.com/kesc"
)

func text(amount string) *string { return &amount }

func must[T any](value T, _ any, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	configuration := kesc.NewConfiguration()
	configuration.Servers = kesc.ServerConfigurations{{URL: os.Getenv("KESC_URL")}}
	configuration.AddDefaultHeader("X-API-Key", os.Getenv("KESC_API_KEY"))
	client := kesc.NewAPIClient(configuration)
	ctx, user := context.Background(), os.Getenv("KESC_USER")

	opened := kesc.NewCreateAccountRequest(user, "0712345678")
	opened.SetEmail("wanjiku@example.co.ke")
	account := must(client.AccountAPI.CreateAccount(ctx).CreateAccountRequest(*opened).Execute())
	mint := func(amount kesc.MintRequestAmount, reference string) float64 {
		request := kesc.NewMintRequest(account.Id, amount, reference)
		request.SetRail("direct")
		return must(client.TransactionAPI.Mint(ctx).MintRequest(*request).Execute()).Amount
	}
	minted := mint(kesc.StringAsMintRequestAmount(text("12345678901.23")), user+"-cents")
	number := 3000000000.0
	whole := mint(kesc.Float64AsMintRequestAmount(&number), user+"-whole")
	balance := must(client.AccountAPI.GetAccount(ctx, account.Id).Execute()).AvailableBalance

	request := kesc.NewRedeemRequest(account.Id, kesc.StringAsRedeemRequestAmount(text("99999999999.99")), user+"-too-much")
	request.SetRail("direct")
	_, _, err := client.TransactionAPI.Redeem(ctx).RedeemRequest(*request).Execute()
	refusal := err.(*kesc.GenericOpenAPIError).Model().(kesc.Redeem422Response)
	result := map[string]string{
		"minted":  fmt.Sprintf("%.2f", minted),
		"whole":   fmt.Sprintf("%.2f", whole),
		"balance": fmt.Sprintf("%.2f", balance),
		"refused": refusal.InsufficientFundsProblem.Code,
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}
