# KESC_API_KEY is a key, KESC_ADDRESS the gRPC address, KESC the folder of the service. Needs the gems grpc, grpc-tools and
# googleapis-common-protos-types, or Debian's ruby-grpc, ruby-grpc-tools and ruby-googleapis-common-protos-types.
# In an empty folder with this file:
#
#   mkdir lib
#   grpc_tools_ruby_protoc -I "$KESC/dist/proto/include" --ruby_out=lib --grpc_out=lib "$KESC"/dist/proto/include/kesc/v1/*.proto
#   ruby -I lib client.rb
require "google/protobuf/well_known_types"
require "google/rpc/error_details_pb"
require "kesc/v1/account_service_services_pb"
require "kesc/v1/transaction_service_services_pb"
require "securerandom"

# The service repeats nothing by itself. After UNAVAILABLE a repeat is safe, because of the reference.
RETRIES = <<~JSON
  {"methodConfig": [{"name": [{"service": "kesc.v1.AccountService"}, {"service": "kesc.v1.TransactionService"}],
    "retryPolicy": {"maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "5s", "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"]}}]}
JSON

address = ENV.fetch("KESC_ADDRESS", "127.0.0.1:50051")
options = { timeout: 10, channel_args: { "grpc.service_config" => RETRIES } }
accounts = Kesc::V1::AccountService::Stub.new(address, :this_channel_is_insecure, **options)
transactions = Kesc::V1::TransactionService::Stub.new(address, :this_channel_is_insecure, **options)
key = { "x-api-key" => ENV.fetch("KESC_API_KEY").strip }
user = SecureRandom.uuid

opening = Kesc::V1::CreateAccountRequest.new(user_id: user, phone_number: "0712345678")
account = accounts.create_account(opening, metadata: key).account
puts "account #{account.id}"

deposit = { account_id: account.id, amount: "1000.00", reference: "deposit-#{user}", rail: "direct" }
minted = transactions.mint(Kesc::V1::MintRequest.new(**deposit), metadata: key).transaction
puts "minted #{minted.amount}"

begin
  # Another amount under the same reference is a mistake of the caller.
  transactions.mint(Kesc::V1::MintRequest.new(**deposit, amount: "2000.00"), metadata: key)
rescue GRPC::BadStatus => e
  # An error without details comes from the library or from a proxy: read e.code then.
  details = e.to_rpc_status&.details.to_a
  info = details.filter_map { |detail| detail.unpack(Google::Rpc::ErrorInfo) }.first
  raise if info.nil?

  puts "refused: #{info.reason} #{info.metadata["differing_fields"]}"
end
