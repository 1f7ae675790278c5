module github.com/vaultflow/vaultflow/llm/llmtest/schemas/generate

go 1.26.0

require (
	cloud.google.com/go/ai v0.20.0
	google.golang.org/api v0.290.0
	google.golang.org/genproto/googleapis/api v0.0.0-20260414002931-afd174a4e478
	google.golang.org/protobuf v1.36.11
)

require (
	cloud.google.com/go/longrunning v0.9.0 // indirect
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto v0.0.0-20260319201613-d00831a3d3e7 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260706201446-f0a921348800 // indirect
	google.golang.org/grpc v1.82.0 // indirect
)
