package pingpost

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options configure a client. BaseURL and exactly one credential are required: APIKey, Token,
// or ClientID with ClientSecret.
type Options struct {
	BaseURL string // such as https://exchange.example.com

	APIKey string // of a supplier, for paths under /api/v1

	ClientID, ClientSecret string   // of an OAuth client, for paths under /v1
	Scopes                 []string // scopes of its tokens: ping, post, webhook; default: all of the client's scopes
	AuthURL                string   // URL of the token server; default: BaseURL

	Token string // a static bearer token, as in sandboxes

	Timeout    time.Duration // of one attempt; default 10 s
	MaxRetries int           // retries after the first attempt; default 5, negative: none
	UserAgent  string        // precedes the package's own User-Agent

	HTTPClient *http.Client                                     // the HTTP client; its Timeout and CheckRedirect are not used
	Sleep      func(ctx context.Context, d time.Duration) error // waits between attempts; it must return early when the context ends
}

const (
	defaultTimeout = 10 * time.Second
	defaultRetries = 5
)

// withDefaults returns the options with their defaults, or an error.
func (o Options) withDefaults() (Options, error) {
	var err error
	if o.BaseURL, err = address("BaseURL", o.BaseURL); err != nil {
		return o, err
	}
	if o.AuthURL == "" {
		o.AuthURL = o.BaseURL
	} else if o.AuthURL, err = address("AuthURL", o.AuthURL); err != nil {
		return o, err
	}
	if (o.ClientID == "") != (o.ClientSecret == "") {
		return o, &UsageError{"give ClientID and ClientSecret together"}
	}
	given := 0
	for _, one := range []string{o.APIKey, o.ClientID, o.Token} {
		if one != "" {
			given++
		}
	}
	if given != 1 {
		return o, &UsageError{fmt.Sprintf("%d credentials: give exactly one of APIKey, Token, and ClientID with ClientSecret", given)}
	}
	if o.Timeout < 0 {
		return o, &UsageError{"Timeout is negative"}
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = defaultRetries
	}
	o.UserAgent = strings.TrimSpace(o.UserAgent + " pingpost-go/" + Version)
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	client := http.Client{Transport: http.DefaultTransport}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.HTTPClient = &client
	return o, nil
}

func address(name, text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", &UsageError{name + " is not an http or https address without a query"}
	}
	return strings.TrimRight(text, "/"), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Format prints the options without secrets, for every verb.
func (o Options) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "pingpost.Options{BaseURL: %q}", o.BaseURL)
}

// Ptr returns a pointer to the value, for optional members of a model.
func Ptr[T any](value T) *T { return &value }
