// KESC_API_KEY is a key, KESC_ADDRESS the gRPC address, KESC the folder of the service. Needs protoc, gRPC's plugin and
// C++ 17: Debian's g++, pkg-config, libgrpc++-dev and protobuf-compiler-grpc. In an empty folder with this file:
//
//   cp -r "$KESC/dist/proto/include" proto
//   mkdir gen
//   protos="proto/google/api/*.proto proto/google/rpc/*.proto proto/kesc/v1/*.proto"
//   protoc -I proto --cpp_out=gen --grpc_out=gen --plugin=protoc-gen-grpc=$(which grpc_cpp_plugin) $protos
//   g++ -std=c++17 -I gen -o client client.cpp $(find gen -name '*.cc') $(pkg-config --cflags --libs grpc++ protobuf)
//   ./client
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "kesc/v1/account_service.grpc.pb.h"
#include "kesc/v1/transaction_service.grpc.pb.h"

// The service repeats nothing by itself. After UNAVAILABLE a repeat is safe, because of the reference.
const char* const RETRIES = R"({"methodConfig": [{"name": [{"service": "kesc.v1.AccountService"}, {"service": "kesc.v1.TransactionService"}],
  "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s", "backoffMultiplier": 2,
                  "retryableStatusCodes": ["UNAVAILABLE"]}}]})";

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

// Each call needs a context of its own.
struct Call : grpc::ClientContext {
  Call() {
    AddMetadata("x-api-key", variable("KESC_API_KEY", ""));
    set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  }
};

// The reason of a refusal and its facts. Empty if the error comes from the library or from a proxy.
google::rpc::ErrorInfo infoOf(const grpc::Status& error) {
  google::rpc::Status status;
  google::rpc::ErrorInfo info;
  status.ParseFromString(error.error_details());
  for (const auto& detail : status.details())
    if (detail.UnpackTo(&info)) break;
  return info;
}

int fail(const grpc::Status& error) {
  std::cerr << error.error_code() << " " << infoOf(error).reason() << " " << error.error_message() << std::endl;
  return 1;
}

int main() {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(RETRIES);
  const auto channel = grpc::CreateCustomChannel(variable("KESC_ADDRESS", "127.0.0.1:50051"),
                                                 grpc::InsecureChannelCredentials(), arguments);
  const auto accounts = kesc::v1::AccountService::NewStub(channel);
  const auto transactions = kesc::v1::TransactionService::NewStub(channel);
  const auto user = std::to_string(std::chrono::system_clock::now().time_since_epoch().count());

  kesc::v1::CreateAccountRequest opening;
  opening.set_user_id(user);
  opening.set_phone_number("0712345678");
  kesc::v1::CreateAccountResponse opened;
  Call create;
  if (const auto status = accounts->CreateAccount(&create, opening, &opened); !status.ok()) return fail(status);
  std::cout << "account " << opened.account().id() << std::endl;

  kesc::v1::MintRequest deposit;
  deposit.set_account_id(opened.account().id());
  deposit.set_amount("1000.00");
  deposit.set_reference("deposit-" + user);
  deposit.set_rail("direct");
  kesc::v1::MintResponse minted;
  Call mint;
  if (const auto status = transactions->Mint(&mint, deposit, &minted); !status.ok()) return fail(status);
  std::cout << "minted " << minted.transaction().amount() << std::endl;

  // Another amount under the same reference is a mistake of the caller.
  deposit.set_amount("2000.00");
  Call other;
  const auto info = infoOf(transactions->Mint(&other, deposit, &minted));
  std::cout << "refused: " << info.reason() << " " << info.metadata().at("differing_fields") << std::endl;
}
