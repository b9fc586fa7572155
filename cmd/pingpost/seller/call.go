package seller

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"pingpost/cmd/pingpost/client"
)

// sellerFlags are the flags that ping and post share: the exchange, the credential and the Idempotency-Key.
type sellerFlags struct {
	client.TrustedCAFlag
	URL          string `default:"http://127.0.0.1:8080" placeholder:"URL" help:"The exchange's address (${default})."`
	Token        string `env:"PINGPOST_TOKEN" placeholder:"TOKEN" help:"A bearer token; better in the environment variable PINGPOST_TOKEN."`
	ClientID     string `name:"client-id" env:"PINGPOST_CLIENT_ID" placeholder:"ID" help:"An OAuth client, for which the exchange issues a token."`
	ClientSecret string `name:"client-secret" env:"PINGPOST_CLIENT_SECRET" placeholder:"SECRET" help:"The client's secret; better in the environment variable PINGPOST_CLIENT_SECRET."`
	Key          string `placeholder:"TEXT" help:"The Idempotency-Key. Without this flag the command creates one and prints it."`

	onCommandLine []string // names of the flags on the command line; other values come from the environment
}

// sellerRequest is a ping or a post that the command is about to send.
type sellerRequest struct {
	flags      *sellerFlags
	path       string
	credential chosenCredentialKind
	scope      string // of a token
	apiKey     string
	fields     map[string]any
	keyField   string // the field that replaces a missing --key; empty: none
}

// exchangeResponse is the exchange's answer to a ping or a post.
type exchangeResponse struct {
	status         int
	header         http.Header
	body           []byte
	key            string
	credentialNote string // the chosen identity, if there was a choice
}

// sendOnce sends the ping or post to the exchange, without a retry, and returns the answer.
func (c *sellerRequest) sendOnce(ctx context.Context) (*exchangeResponse, error) {
	f := c.flags
	to, err := url.Parse(f.URL)
	if err != nil || to.Host == "" || (to.Scheme != "http" && to.Scheme != "https") {
		return nil, fmt.Errorf("--url %q is not an address; write for example http://127.0.0.1:8080", f.URL)
	}
	key := f.Key
	if key == "" {
		key = "cli_" + strings.ToLower(rand.Text())
	}
	if c.keyField != "" && !hasField(c.fields, c.keyField) {
		if err := setField(c.fields, c.keyField, key); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(c.fields)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the request body as JSON: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(f.URL, "/")+c.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	client, err := c.newClientAndAddCredential(ctx, req)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, newSendError(err, key)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, newSendError(err, key)
	}
	return &exchangeResponse{res.StatusCode, res.Header, text, key, c.credential.note}, nil
}

// newClientAndAddCredential returns an HTTP client for the request req. It also adds the
// caller's credential. The client follows no redirect, neither of req nor of the request for an
// access token, so that the credential goes to no other address.
func (c *sellerRequest) newClientAndAddCredential(ctx context.Context, req *http.Request) (*http.Client, error) {
	f := c.flags
	transport, err := f.NewTransport()
	if err != nil {
		return nil, err
	}
	followNoRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client := &http.Client{Transport: transport, CheckRedirect: followNoRedirect}
	switch way := c.credential.kind; {
	case way == byKey && c.apiKey != "":
		req.Header.Set("x-api-key", c.apiKey)
	case way == byToken && f.Token != "":
		req.Header.Set("Authorization", "Bearer "+f.Token)
	case way == byClient && f.ClientID != "" && f.ClientSecret != "":
		config := clientcredentials.Config{
			ClientID: f.ClientID, ClientSecret: f.ClientSecret, Scopes: []string{c.scope},
			TokenURL: strings.TrimRight(f.URL, "/") + "/oauth/token",
		}
		client = config.Client(context.WithValue(ctx, oauth2.HTTPClient, client))
	default:
		return nil, errors.New("no seller credential; give --token, or --client-id and --client-secret")
	}
	client.Timeout = sendTimeout
	client.CheckRedirect = followNoRedirect // config.Client returns a client without it
	return client, nil
}

// newSendError returns the error for a request without an answer, or without an access token. The first
// names the idempotency key with which the user can repeat the request.
func newSendError(err error, idempotencyKey string) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode == "" {
		return fmt.Errorf("the exchange issued no access token: /oauth/token answered %d; check --url", refused.Response.StatusCode)
	}
	if refused != nil {
		return fmt.Errorf("the exchange issued no access token: %s: %s", refused.ErrorCode, refused.ErrorDescription)
	}
	return fmt.Errorf("no answer from the exchange; repeat the command with --key %s to get the result: %w", idempotencyKey, err)
}
