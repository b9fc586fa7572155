package pingpost

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say which exchange a client speaks to, and as whom. BaseURL and exactly one of the
// three credentials are required: APIKey, Token, or ClientID with ClientSecret.
type Options struct {
	BaseURL string // such as https://exchange.example.com

	APIKey string // of a supplier, for what is under /api/v1

	ClientID, ClientSecret string   // of an OAuth client, for what is under /v1
	Scopes                 []string // what its tokens are to open: ping, post, webhook; all that the client has by default
	AuthURL                string   // where tokens come from; BaseURL by default

	Token string // a static bearer token, as sandboxes have them

	Timeout    time.Duration // of one try; 10 s by default
	MaxRetries int           // tries after the first; 5 by default, none where it is negative
	UserAgent  string        // put before the package's own

	HTTPClient *http.Client                                     // what sends; its Timeout and CheckRedirect are not used
	Sleep      func(ctx context.Context, d time.Duration) error // waits between tries, and ends early with the context
}

const (
	defaultTimeout = 10 * time.Second
	defaultRetries = 5
)

// complete fills in what was left out, or says what is wrong.
func (o Options) complete() (Options, error) {
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

// Format shows no secret, whatever the verb.
func (o Options) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "pingpost.Options{BaseURL: %q}", o.BaseURL)
}

// Ptr is a pointer to a value, for members of a model that may be left out.
func Ptr[T any](value T) *T { return &value }
