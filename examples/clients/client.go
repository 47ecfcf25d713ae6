// KESC_API_KEY is a key, KESC_ADDRESS the gRPC address, KESC the folder of the service. Needs Go 1.24 and protoc.
// In an empty folder with this file:
//
//	export GOBIN=$PWD/bin PATH=$PWD/bin:$PATH
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
//	go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
//	protoc -I "$KESC/dist/proto/include" --go_out=. --go-grpc_out=. "$KESC"/dist/proto/include/kesc/v1/*.proto
//	(cd kesc && go mod init kesc)
//	go mod init client
//	go mod edit -replace kesc=./kesc -require kesc@v0.0.0 -require google.golang.org/grpc@v1.85.0
//	go mod tidy
//	go run client.go
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	kesc "kesc/v1"
)

// The service repeats nothing by itself. After UNAVAILABLE a repeat is safe, because of the reference.
const retries = `{"methodConfig": [{"name": [{"service": "kesc.v1.AccountService"}, {"service": "kesc.v1.TransactionService"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s", "backoffMultiplier": 2,
                  "retryableStatusCodes": ["UNAVAILABLE"]}}]}`

func main() {
	address := os.Getenv("KESC_ADDRESS")
	if address == "" {
		address = "127.0.0.1:50051"
	}
	channel, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultServiceConfig(retries))
	if err != nil {
		log.Fatal(err)
	}
	defer channel.Close()
	key := metadata.Pairs("x-api-key", strings.TrimSpace(os.Getenv("KESC_API_KEY")))
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(context.Background(), key), 10*time.Second)
	defer cancel()
	user := rand.Text()

	accounts := kesc.NewAccountServiceClient(channel)
	opened, err := accounts.CreateAccount(ctx, &kesc.CreateAccountRequest{UserId: user, PhoneNumber: "0712345678"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("account", opened.Account.Id)

	transactions := kesc.NewTransactionServiceClient(channel)
	deposit := &kesc.MintRequest{AccountId: opened.Account.Id, Amount: "1000.00", Reference: "deposit-" + user, Rail: "direct"}
	minted, err := transactions.Mint(ctx, deposit)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("minted", minted.Transaction.Amount)

	// Another amount under the same reference is a mistake of the caller.
	deposit.Amount = "2000.00"
	_, err = transactions.Mint(ctx, deposit)
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			fmt.Println("refused:", info.Reason, info.Metadata["differing_fields"])
		}
	}
}
