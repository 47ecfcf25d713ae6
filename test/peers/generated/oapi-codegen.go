package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"example.com/kesc"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	key := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv("KESC_API_KEY"))
		return nil
	}
	client := must(kesc.NewClientWithResponses(os.Getenv("KESC_URL"), kesc.WithRequestEditorFn(key)))
	ctx, user := context.Background(), os.Getenv("KESC_USER")

	email, rail := "wanjiku@example.co.ke", "direct"
	opened := kesc.CreateAccountRequest{UserId: user, PhoneNumber: "0712345678", Email: &email}
	account := must(client.CreateAccountWithResponse(ctx, nil, opened)).JSON201
	mint := func(amount kesc.MintRequest_Amount, reference string) float64 {
		request := kesc.MintRequest{AccountId: account.Id, Amount: amount, Reference: reference, Rail: &rail}
		return must(client.MintWithResponse(ctx, nil, request)).JSON201.Amount
	}
	var cents, number kesc.MintRequest_Amount
	_ = cents.FromMintRequestAmount0("12345678901.23")
	_ = number.FromMintRequestAmount1(3000000000)
	minted := mint(cents, user+"-cents")
	whole := mint(number, user+"-whole")
	balance := must(client.GetAccountWithResponse(ctx, account.Id, nil)).JSON200.AvailableBalance

	request := kesc.RedeemRequest{AccountId: account.Id, Reference: user + "-too-much", Rail: &rail}
	_ = request.Amount.FromRedeemRequestAmount0("99999999999.99")
	refusal := must(client.RedeemWithResponse(ctx, nil, request)).ApplicationproblemJSON422
	problem := must(refusal.ValueByDiscriminator()).(kesc.InsufficientFundsProblem)
	result := map[string]string{
		"minted":  fmt.Sprintf("%.2f", minted),
		"whole":   fmt.Sprintf("%.2f", whole),
		"balance": fmt.Sprintf("%.2f", balance),
		"refused": string(problem.Code),
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}
