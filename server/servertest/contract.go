package servertest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/valyala/fasthttp"

	"pingpost/api/contract"
	"pingpost/internal/must"
)

// NewOpenAPICheckingTransport returns an HTTP client's transport that fails the test if a request or
// answer does not follow the OpenAPI document.
func NewOpenAPICheckingTransport(t testing.TB) *contract.Transport {
	return &contract.Transport{Base: new(http.Transport), Fallback: contract.Public(), Report: func(err error) { t.Error(err) }}
}

// CheckContract fails the test if a request or its answer does not follow the OpenAPI document. It
// ignores paths that have no OpenAPI document. It is for tests that do not use Go's HTTP client.
func CheckContract(t testing.TB, q *contract.Request, a *contract.Answer) {
	t.Helper()
	c := contract.ForPath(q.Path)
	if c == nil {
		return
	}
	if err := c.CheckTraffic(q, a); err != nil {
		t.Error(err)
	}
}

// CheckContextContract fails the test if a request that was handled without a connection, or
// its answer, does not follow the OpenAPI document. It skips a streamed answer, which the test
// reads later.
func CheckContextContract(t testing.TB, ctx *fasthttp.RequestCtx, body []byte) {
	t.Helper()
	if ctx.Response.IsBodyStream() {
		return
	}
	q := &contract.Request{Method: string(ctx.Method()), Header: http.Header{}, Body: body}
	q.Path, _, _ = strings.Cut(string(ctx.Request.Header.RequestURI()), "?")
	for name, value := range ctx.Request.Header.All() {
		q.Header.Add(string(name), string(value))
	}
	a := &contract.Answer{Status: ctx.Response.StatusCode(), Header: http.Header{}, Body: ctx.Response.Body()}
	for name, value := range ctx.Response.Header.All() {
		a.Header.Add(string(name), string(value))
	}
	CheckContract(t, q, a)
}

// HasFieldError reports whether an answer is a 422 with an error of this code for this field.
func HasFieldError(status int, body, field, code string) bool {
	var answer struct {
		Error  string
		Fields []struct{ Field, Code string } `json:"field_errors"`
	}
	if status != 422 || json.Unmarshal([]byte(body), &answer) != nil || answer.Error != "invalid_payload" {
		return false
	}
	for _, f := range answer.Fields {
		if f.Field == field && f.Code == code {
			return true
		}
	}
	return false
}

// QueryParameters returns the query parameters of each operation in an OpenAPI document, by
// keys such as GET /admin/v1/leads.
func QueryParameters(t *testing.T, document []byte) map[string][]string {
	t.Helper()
	type parameter struct {
		Ref  string `yaml:"$ref"`
		Name string `yaml:"name"`
		In   string `yaml:"in"`
	}
	var read struct {
		Paths map[string]map[string]struct {
			Parameters []parameter `yaml:"parameters"`
		} `yaml:"paths"`
		Components struct {
			Parameters map[string]parameter `yaml:"parameters"`
		} `yaml:"components"`
	}
	must.Succeed(t, yaml.Unmarshal(document, &read))
	all := map[string][]string{}
	for path, methods := range read.Paths {
		for method, operation := range methods {
			names := []string{}
			for _, p := range operation.Parameters {
				if name, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					p = read.Components.Parameters[name]
				}
				if p.In == "query" {
					names = append(names, p.Name)
				}
			}
			all[strings.ToUpper(method)+" "+path] = names
		}
	}
	return all
}
