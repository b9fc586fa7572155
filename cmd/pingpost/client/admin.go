package client

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// AdminFlags are the flags with which a command reaches the admin API of a running exchange:
// address and credential.
type AdminFlags struct {
	TrustedCAFlag
	Admin    string `default:"http://127.0.0.1:9090" help:"The exchange's admin address (${default})." placeholder:"URL"`
	User     string `help:"Your account's name. Its password comes from PINGPOST_ADMIN_PASSWORD or from the terminal. A personal token in PINGPOST_ADMIN_TOKEN needs no name." placeholder:"NAME"`
	Password string `env:"PINGPOST_ADMIN_PASSWORD" help:"The password of --user, or the configured admin password; better in the environment variable PINGPOST_ADMIN_PASSWORD." placeholder:"TEXT"`

	ContentType string `kong:"-"` // content type of the request body, if it matters
}

// Call sends one request to the admin API and returns the body of a successful
// answer.
func (f *AdminFlags) Call(method, path string, requestBody []byte) (responseBody []byte, err error) {
	answer, err := f.Send(time.Minute, method, path, requestBody)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	return text, nil
}

// CallJSON sends one request to the admin API and decodes the JSON answer into decodeInto.
// It also returns the answer's body.
func (f *AdminFlags) CallJSON(method, path string, requestBody []byte, decodeInto any) (responseBody []byte, err error) {
	if responseBody, err = f.Call(method, path, requestBody); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(responseBody, decodeInto); err != nil {
		return nil, fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	return responseBody, nil
}

// Send sends one request to the admin API, with a time limit (0: unlimited). It
// returns a successful answer, whose body the caller reads and closes. Any other answer is an
// error.
func (f *AdminFlags) Send(timeout time.Duration, method, path string, requestBody []byte) (successResponse *http.Response, err error) {
	transport, err := f.NewTransport()
	if err != nil {
		return nil, err
	}
	transport.DisableKeepAlives = true // a command makes few requests, each with its own transport
	client := &http.Client{Transport: transport, Timeout: timeout}
	if !strings.HasPrefix(f.Admin, "http://") && !strings.HasPrefix(f.Admin, "https://") {
		return nil, fmt.Errorf("--admin %q is not an address; begin it with http:// or https://", f.Admin)
	}
	req, err := http.NewRequest(method, f.Admin+path, bytes.NewReader(requestBody))
	if err != nil {
		return nil, fmt.Errorf("--admin %q: cannot create the request: %w", f.Admin, err)
	}
	if f.ContentType != "" {
		req.Header.Set("Content-Type", f.ContentType)
	}
	if err := f.addOperatorCredential(req); err != nil {
		return nil, err
	}
	answer, err := client.Do(req)
	if stranger := (x509.UnknownAuthorityError{}); errors.As(err, &stranger) {
		return nil, fmt.Errorf("%s presents a TLS certificate whose issuer is not trusted here; give the issuer's certificate with --ca FILE or PINGPOST_CA: %w", f.Admin, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the exchange; is it running, and is --admin its admin address? %w", err)
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	if answer.StatusCode == http.StatusUnauthorized {
		return nil, fmt.Errorf("%w\n%s", NewAPIError(answer.Status, text), f.explainRejectedCredential())
	}
	return nil, NewAPIError(answer.Status, text)
}

// NewAPIError returns an error with the message of the admin API's error answer. It adds the
// expected values of invalid fields that the message does not name. fallbackMessage replaces a
// missing message; it is the HTTP status text.
func NewAPIError(fallbackMessage string, body []byte) error {
	var answer struct {
		Message string `json:"message"`
		Fields  []struct {
			Field    string `json:"field"`
			Expected string `json:"expected"`
		} `json:"field_errors"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Message == "" {
		answer.Message = fallbackMessage
	}
	message := answer.Message // has a configuration's mistakes, with their lines
	for _, f := range answer.Fields {
		if strings.HasSuffix(message, f.Expected) || strings.Contains(message, f.Expected+"\n") {
			continue
		}
		answer.Message += fmt.Sprintf("\n  %s: expected %s", f.Field, f.Expected)
	}
	return fmt.Errorf("the exchange says: %s", answer.Message)
}
