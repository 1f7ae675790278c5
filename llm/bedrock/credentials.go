package bedrock

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/vaultflow/vaultflow/llm"
)

// Keys are those of an AWS account. SessionToken comes with keys that expire.
type Keys struct {
	AccessKeyID     llm.Secret
	SecretAccessKey llm.Secret
	SessionToken    llm.Secret
}

// signer signs requests with AWS Signature Version 4. The service has no unsigned bodies: the digest of the body is in the
// signature.
type signer struct {
	source aws.CredentialsProvider
	region string
	now    func() time.Time
}

func newSigner(c Config) *signer {
	s := &signer{region: c.Region, now: c.Now}
	if s.now == nil {
		s.now = time.Now
	}
	switch {
	case c.Keys.AccessKeyID != "":
		s.source = credentials.NewStaticCredentialsProvider(string(c.Keys.AccessKeyID), string(c.Keys.SecretAccessKey), string(c.Keys.SessionToken))
	default:
		s.source = &profile{name: c.Profile, client: c.Client}
	}
	return s
}

// Signs implements wire.Authorizer.
func (*signer) Signs() bool { return true }

// Authorize implements wire.Authorizer.
func (s *signer) Authorize(ctx context.Context, request *http.Request, digest string) error {
	keys, err := s.source.Retrieve(ctx)
	if err != nil {
		return err
	}
	return v4.NewSigner().SignHTTP(ctx, keys, request, digest, wireName, s.region, s.now())
}

// profile reads keys from the machine's AWS configuration: keys in a file, a role to assume, a single sign-on, a program.
// It caches them until they expire.
type profile struct {
	name   string
	client *http.Client

	mu     sync.Mutex // guards source
	source aws.CredentialsProvider
}

// Retrieve implements aws.CredentialsProvider.
func (p *profile) Retrieve(ctx context.Context) (aws.Credentials, error) {
	source, err := p.load(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	keys, err := source.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("profile %s has no keys (with a single sign-on, `aws sso login --profile %s` may help): %w", p.name, p.name, err)
	}
	return keys, nil
}

// load reads the configuration, and caches it. A named profile takes precedence over keys in the environment.
func (p *profile) load(ctx context.Context) (aws.CredentialsProvider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.source != nil {
		return p.source, nil
	}
	options := []func(*config.LoadOptions) error{
		config.WithSharedConfigProfile(p.name),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
		config.WithEC2IMDSClientEnableState(imds.ClientDisabled), // a profile that wants the machine's own role names it
	}
	if p.client != nil {
		options = append(options, config.WithHTTPClient(p.client))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("profile %s of the AWS configuration: %w", p.name, err)
	}
	p.source = loaded.Credentials
	return p.source, nil
}
