package admin

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/api"
	"pingpost/server/admin/oidc"
	"pingpost/server/servertest"
)

// Deprecated operations of the admin API have the headers. Secrets and profiles are
// exempt, because their routes serve several operations.
func TestDeprecatedAdminOperationsSendHeaders(t *testing.T) {
	a := newAdmin(t, stubOperator{})
	if a.deprecations != nil {
		t.Error("the document marks an operation as deprecated, but docs/versioning.md lists none")
	}
	a.deprecations = servertest.DeprecateAllOperations(t, api.AdminYAML(), servertest.DeprecatedWithSunset)
	checked, authorization := 0, "Basic "+base64.StdEncoding.EncodeToString([]byte("operator:"+servertest.Password))
	for operation := range a.deprecations {
		method, path, _ := strings.Cut(operation, " ")
		if !strings.HasPrefix(path, "/admin/v1/") || strings.HasPrefix(path, "/admin/v1/secrets/") {
			continue
		}
		status, header := servertest.CallHandler(a.http.Handler, method, path, authorization)
		if status == fasthttp.StatusInternalServerError { // the operator lacks an implementation
			continue
		}
		if !servertest.HasExpectedDeprecationHeaders(header, "Tue, 01 Feb 2028 00:00:00 GMT") {
			t.Errorf("%s: %d %v", operation, status, header)
		}
		checked++
	}
	if checked < 55 {
		t.Errorf("%d operations were checked, want at least 55", checked)
	}
	for _, row := range [][2]string{{"/admin/v1/nothing", authorization}, {pathUsers, ""}} {
		if status, header := servertest.CallHandler(a.http.Handler, "GET", row[0], row[1]); header["Deprecation"] != nil {
			t.Errorf("%s: %d %v", row[0], status, header)
		}
	}
}

// The table of query parameters and the document of the admin API agree on each operation.
func TestAdminQueryParametersMatchDocument(t *testing.T) {
	documented := servertest.QueryParameters(t, api.AdminYAML())
	if len(documented) < 60 {
		t.Fatalf("%d operations, want at least 60", len(documented))
	}
	known := maps.Clone(adminQueries)
	for operation, want := range documented {
		key := strings.Replace(operation, "/debug/pprof/{profile}", "/debug/pprof/{name:*}", 1)
		got := known[key]
		delete(known, key)
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%s takes the parameters %q; the document has %q", operation, got, want)
		}
	}
	for operation := range known {
		t.Errorf("%s is in the table, but not in the document", operation)
	}
}

// Each operation rejects unknown parameters and repeated ones.
func TestAdminAPIRejectsUnknownParameters(t *testing.T) {
	address := serveAdmin(t, stubOperator{})
	send := func(operation, query, headers string) (int, string) {
		t.Helper()
		method, path, _ := strings.Cut(operation, " ")
		path = strings.NewReplacer("{profile}", "heap", "{how}", "resend", "{", "", "}", "").Replace(path)
		body := ""
		if method == http.MethodPost || method == http.MethodPut {
			body = "{}"
		}
		k := servertest.Dial(t, address)
		defer k.Close()
		status, _, answer := k.Send(servertest.FormatRequest(method+" "+path+query, headers, body))
		return status, answer
	}
	openToAll := slices.Concat([]string{"GET /healthz", "GET /readyz", "GET /leader", "GET /metrics", "POST " + pathSession}, slices.Collect(maps.Keys(newAdmin(t, stubOperator{}).unauthenticatedTeamOperations())))
	for operation, names := range servertest.QueryParameters(t, api.AdminYAML()) {
		if operation == "GET "+oidc.PathCallback {
			continue // a provider may add parameters
		}
		if status, body := send(operation, "?no_such=1", servertest.BasicAuth); !servertest.HasFieldError(status, body, "no_such", "unknown_field") {
			t.Errorf("%s with an unknown parameter: %d %s", operation, status, body)
		}
		for _, name := range names {
			if _, body := send(operation, "?"+name+"=x", servertest.BasicAuth); strings.Contains(body, "unknown_field") {
				t.Errorf("%s rejects its parameter %s: %s", operation, name, body)
			}
			if status, body := send(operation, "?"+name+"=x&"+name+"=y", servertest.BasicAuth); !servertest.HasFieldError(status, body, name, "invalid_format") {
				t.Errorf("%s with %s twice: %d %s", operation, name, status, body)
			}
		}
		open := slices.Contains(openToAll, operation)
		if status, body := send(operation, "?no_such=1", ""); !open && status != 401 {
			t.Errorf("%s without a credential: got %d %s, want 401", operation, status, body)
		}
	}
	if status, body := send("GET /", "?no_such=1", ""); !servertest.HasFieldError(status, body, "no_such", "unknown_field") {
		t.Errorf("dashboard page: got %d %s", status, body)
	}
	for query, want := range map[string]string{
		"?":                                "",
		"?&":                               "",
		"?limit=1":                         "",
		"?phone=2125550100":                "phone",
		"?limit=1&%70hone=1":               "phone",
		"?Limit=1":                         "Limit",
		"?limit%20=1":                      "limit ",
		"?a%FFb":                           "a\uFFFDb",
		"?" + strings.Repeat("x", 500):     strings.Repeat("x", 64),
		"?" + strings.Repeat("a&b&c&", 99): "c",
	} {
		status, body := send("GET /admin/v1/leads", query, servertest.BasicAuth)
		if want == "" && strings.Contains(body, "unknown_field") || want != "" && !servertest.HasFieldError(status, body, want, "unknown_field") {
			t.Errorf("%.40s: %d %s", query, status, body)
		}
		if strings.Contains(body, "2125550100") || strings.Count(body, `"field":`) > 3 {
			t.Errorf("%.40s: %s", query, body)
		}
	}
	var many strings.Builder
	for i := range 2000 {
		many.WriteString("&" + string(rune('a'+i%26)) + strings.Repeat("y", i/26))
	}
	if status, body := send("GET /admin/v1/leads", "?"+many.String()[:3<<10], servertest.BasicAuth); status != 422 || strings.Count(body, `"field":`) != 20 {
		t.Errorf("2000 parameters: got %d, %d bytes, want 422 with 20 errors", status, len(body))
	}
}
