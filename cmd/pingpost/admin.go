package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"pingpost/cmd/pingpost/client"
	"pingpost/cmd/pingpost/terminal"
	"pingpost/config"
	"pingpost/server/admin"
)

// adminFlags are the flags with which a command reaches the admin API of a running exchange:
// address and credential.
type adminFlags struct {
	client.TLSTrustFlags
	Admin    string `default:"http://127.0.0.1:9090" help:"The exchange's admin address (${default})." placeholder:"URL"`
	User     string `help:"Your account's name. Its password comes from PINGPOST_ADMIN_PASSWORD or from the terminal. A personal token in PINGPOST_ADMIN_TOKEN needs no name." placeholder:"NAME"`
	Password string `env:"PINGPOST_ADMIN_PASSWORD" help:"The password of --user, or the configured admin password; better in the environment variable PINGPOST_ADMIN_PASSWORD." placeholder:"TEXT"`

	contentType string // content type of the request body, if it matters
}

// callAdminAPI sends one request to the admin API and returns the body of a successful
// answer.
func (f *adminFlags) callAdminAPI(method, path string, requestBody []byte) (responseBody []byte, err error) {
	answer, err := f.sendAdminRequest(time.Minute, method, path, requestBody)
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

// callAdminJSON sends one request to the admin API and decodes the JSON answer into decodeInto.
// It also returns the answer's body.
func (f *adminFlags) callAdminJSON(method, path string, requestBody []byte, decodeInto any) (responseBody []byte, err error) {
	if responseBody, err = f.callAdminAPI(method, path, requestBody); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(responseBody, decodeInto); err != nil {
		return nil, fmt.Errorf("cannot read the exchange's answer: %w", err)
	}
	return responseBody, nil
}

// sendAdminRequest sends one request to the admin API, with a time limit (0: unlimited). It
// returns a successful answer, whose body the caller reads and closes. Any other answer is an
// error.
func (f *adminFlags) sendAdminRequest(timeout time.Duration, method, path string, requestBody []byte) (*http.Response, error) {
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
	if f.contentType != "" {
		req.Header.Set("Content-Type", f.contentType)
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
		return nil, fmt.Errorf("%w\n%s", newAPIError(answer.Status, text), f.explainRejectedCredential())
	}
	return nil, newAPIError(answer.Status, text)
}

// newAPIError returns an error with the message of the admin API's error answer. It adds the
// expected values of invalid fields that the message does not name. fallbackMessage replaces a
// missing message; it is the HTTP status text.
func newAPIError(fallbackMessage string, body []byte) error {
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

// configUploadResult is the admin API's answer to a sent configuration: the changes, the values
// that the exchange does not apply, and the warnings.
type configUploadResult struct {
	Changes   []string `json:"changes"`
	Unapplied []string `json:"unapplied"`
	Warnings  []string `json:"warnings"`
}

// format returns one line for each change, unapplied value and warning. A line for a value
// that is not applied begins with an exclamation mark.
func (v *configUploadResult) format(colors terminal.Colors) string {
	var b strings.Builder
	for _, change := range v.Changes {
		b.WriteString(change + "\n")
	}
	for _, value := range v.Unapplied {
		b.WriteString("! " + value + "\n")
	}
	for _, warning := range v.Warnings {
		b.WriteString("warning: " + warning + "\n")
	}
	return colors.PaintLines(b.String(), map[string]func(string) string{
		"+ ": colors.Green, "- ": colors.Red, "~ ": colors.Yellow, "! ": colors.Yellow, "warning: ": colors.Yellow,
	})
}

// uploadConfig sends a configuration file to the exchange, with the values that this
// command's environment has for its variables. With dryRun the exchange only returns the
// differences and changes nothing.
func (f *adminFlags) uploadConfig(path string, dryRun bool) (*configUploadResult, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	variables, err := config.CollectVariableValues(path, document, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	flags := *f
	if len(variables) > 0 {
		flags.contentType = admin.TypeApply
		if document, err = json.Marshal(map[string]any{"document": string(document), "variables": variables}); err != nil {
			return nil, err
		}
	}
	query := ""
	if dryRun {
		query = "?" + url.Values{"dry": {"1"}}.Encode()
	}
	result := new(configUploadResult)
	if _, err := flags.callAdminJSON("PUT", "/admin/v1/config"+query, document, result); err != nil {
		return nil, err
	}
	return result, nil
}
