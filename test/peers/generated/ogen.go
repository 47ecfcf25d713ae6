package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/ogen-go/ogen/ogenerrors"

	"example.com/kesc"
)

type key struct{}

func (key) ApiKeyHeader(context.Context, kesc.OperationName) (kesc.ApiKeyHeader, error) {
	return kesc.ApiKeyHeader{APIKey: os.Getenv("KESC_API_KEY")}, nil
}

func (key) Bearer(context.Context, kesc.OperationName) (kesc.Bearer, error) {
	return kesc.Bearer{}, ogenerrors.ErrSkipClientSecurity
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	client := must(kesc.NewClient(os.Getenv("KESC_URL"), key{}))
	ctx, user := context.Background(), os.Getenv("KESC_USER")

	opened := kesc.CreateAccountRequest{UserID: user, PhoneNumber: "0712345678"}
	opened.Email.SetTo("wanjiku@example.co.ke")
	created := must(client.CreateAccount(ctx, &opened, kesc.CreateAccountParams{})).(*kesc.CreateAccountCreatedHeaders)
	account := created.Response
	mint := func(amount kesc.MintRequestAmount, reference string) float64 {
		request := kesc.MintRequest{AccountID: account.ID, Amount: amount, Reference: reference}
		request.Rail.SetTo("direct")
		return must(client.Mint(ctx, &request, kesc.MintParams{})).(*kesc.MintCreatedHeaders).Response.Amount
	}
	minted := mint(kesc.NewStringMintRequestAmount("12345678901.23"), user+"-cents")
	whole := mint(kesc.NewFloat64MintRequestAmount(3000000000), user+"-whole")
	read := must(client.GetAccount(ctx, kesc.GetAccountParams{AccountID: account.ID})).(*kesc.GetAccountOKHeaders)

	amount := kesc.NewStringRedeemRequestAmount("99999999999.99")
	request := kesc.RedeemRequest{AccountID: account.ID, Amount: amount, Reference: user + "-too-much"}
	request.Rail.SetTo("direct")
	refused := must(client.Redeem(ctx, &request, kesc.RedeemParams{})).(*kesc.RedeemUnprocessableEntityHeaders)
	problem, _ := refused.Response.GetInsufficientFundsProblem()
	result := map[string]string{
		"minted":  fmt.Sprintf("%.2f", minted),
		"whole":   fmt.Sprintf("%.2f", whole),
		"balance": fmt.Sprintf("%.2f", read.Response.AvailableBalance),
		"refused": problem.Code,
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}
