package server

import (
	"encoding/base64"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metrics"
	"github.com/valyala/fasthttp"

	"pingpost/api"
)

// deprecated is a document with each operation marked, or with none of them.
func deprecated(t *testing.T, document []byte, fields string) endings {
	t.Helper()
	marked := regexp.MustCompile(`(?m)^      operationId:.*$`).ReplaceAll(document, []byte("$0\n      deprecated: true\n"+fields))
	return endingsIn(marked)
}

const (
	sinceJanuary = "      x-deprecated: '2027-01-31'\n      externalDocs: {url: 'https://x.example/how'}\n"
	untilLater   = sinceJanuary + "      x-sunset: '2028-02-01'\n"
	wantLink     = `<https://x.example/how>; rel="deprecation"`
)

// saysSo holds the three headers of an answer, of which the last may be missing.
func saysSo(header map[string][]string, sunset ...string) bool {
	return slices.Equal(header["Deprecation"], []string{"@1801353600"}) && slices.Equal(header["Link"], []string{wantLink}) && slices.Equal(header["Sunset"], sunset)
}

// TestDeprecatedOperationsSaySo: whatever the document marks, answers of it have the
// headers; and what it does not mark has none.
func TestDeprecatedOperationsSaySo(t *testing.T) {
	if endingsIn(api.YAML()) != nil {
		t.Error("something is deprecated, and docs/versioning.md says that nothing is")
	}
	for name, row := range map[string]struct {
		fields string
		sunset []string
	}{"with an end": {untilLater, []string{"Tue, 01 Feb 2028 00:00:00 GMT"}}, "without one yet": {sinceJanuary, nil}} {
		d := open(t)
		d.opt.Sandbox, d.endings = true, deprecated(t, api.YAML(), row.fields)
		if len(d.endings) < 13 {
			t.Fatalf("%d operations", len(d.endings))
		}
		for operation := range d.endings {
			method, path, _ := strings.Cut(operation, " ")
			if status, header := answers(d.handle, method, path, ""); !saysSo(header, row.sunset...) {
				t.Errorf("%s, %s: %d %v", name, operation, status, header)
			}
		}
		if status, header := answers(d.handle, "GET", "/api/v1/ingest", ""); status != 405 || header["Deprecation"] != nil {
			t.Errorf("what is no operation: %d %v", status, header)
		}
		d.endings = endings{"POST /v1/ping": d.endings["POST /v1/ping"]}
		if _, header := answers(d.handle, "POST", "/v1/post", ""); header["Deprecation"] != nil || header["Sunset"] != nil || header["Link"] != nil {
			t.Errorf("what is not deprecated: %v", header)
		}
	}
}

// TestDeprecatedAdminOperationsSaySo: the same at the admin address, but for secrets and
// profiles, whose routes take more than one operation each, and for what is not the API.
func TestDeprecatedAdminOperationsSaySo(t *testing.T) {
	a := NewAdmin(desk{}, NewMeter(metrics.NewSet(), func(what string, err error) { t.Errorf("%s: %v", what, err) }), secretWord, slog.New(slog.DiscardHandler))
	if a.endings != nil {
		t.Error("something is deprecated, and docs/versioning.md says that nothing is")
	}
	a.endings = deprecated(t, api.AdminYAML(), untilLater)
	said, who := 0, "Basic "+base64.StdEncoding.EncodeToString([]byte("operator:"+secretWord))
	for operation := range a.endings {
		method, path, _ := strings.Cut(operation, " ")
		if !strings.HasPrefix(path, "/admin/v1/") || strings.HasPrefix(path, "/admin/v1/secrets/") {
			continue
		}
		status, header := answers(a.http.Handler, method, path, who)
		if status == fasthttp.StatusInternalServerError { // the desk has not what is asked for
			continue
		}
		if !saysSo(header, "Tue, 01 Feb 2028 00:00:00 GMT") {
			t.Errorf("%s: %d %v", operation, status, header)
		}
		said++
	}
	if said < 55 {
		t.Errorf("%d operations", said)
	}
	for _, row := range [][2]string{{"/admin/v1/nothing", who}, {pathUsers, ""}} {
		if status, header := answers(a.http.Handler, "GET", row[0], row[1]); header["Deprecation"] != nil {
			t.Errorf("%s: %d %v", row[0], status, header)
		}
	}
}

// answers are how a request without a body is answered.
func answers(handle fasthttp.RequestHandler, method, path, authorization string) (status int, header map[string][]string) {
	var request fasthttp.Request
	request.Header.SetMethod(method)
	request.SetRequestURI(path)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	var ctx fasthttp.RequestCtx
	ctx.Init(&request, nil, nil)
	handle(&ctx)
	header = map[string][]string{}
	for name, value := range ctx.Response.Header.All() {
		header[string(name)] = append(header[string(name)], string(value))
	}
	return ctx.Response.StatusCode(), header
}
