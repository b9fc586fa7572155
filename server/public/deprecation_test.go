package public

import (
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/server/apidocs"
	"pingpost/server/servertest"
)

// Answers of operations that the document marks as deprecated have the headers, and other
// answers do not.
func TestDeprecatedOperationsSendHeaders(t *testing.T) {
	if apidocs.LoadDeprecations(api.PublicYAML()) != nil {
		t.Error("the document marks an operation as deprecated, but docs/versioning.md lists none")
	}
	for name, row := range map[string]struct {
		fields string
		sunset []string
	}{"with a sunset date": {servertest.DeprecatedWithSunset, []string{"Tue, 01 Feb 2028 00:00:00 GMT"}}, "without a sunset date": {servertest.Deprecated, nil}} {
		d := newTestServer(t)
		d.opt.Sandbox, d.deprecations = true, servertest.DeprecateAllOperations(t, api.PublicYAML(), row.fields)
		if len(d.deprecations) < 13 {
			t.Fatalf("got %d operations, want at least 13", len(d.deprecations))
		}
		for operation := range d.deprecations {
			method, path, _ := strings.Cut(operation, " ")
			if status, header := servertest.CallHandler(d.handleRequest, method, strings.Replace(path, "{page}", "concepts", 1), ""); !servertest.HasExpectedDeprecationHeaders(header, row.sunset...) {
				t.Errorf("%s, %s: %d %v", name, operation, status, header)
			}
		}
		if status, header := servertest.CallHandler(d.handleRequest, "GET", "/api/v1/ingest", ""); status != 405 || header["Deprecation"] != nil {
			t.Errorf("unknown operation: got %d %v, want 405 without Deprecation", status, header)
		}
		d.deprecations = apidocs.Deprecations{"POST /v1/ping": d.deprecations["POST /v1/ping"]}
		if _, header := servertest.CallHandler(d.handleRequest, "POST", "/v1/post", ""); header["Deprecation"] != nil || header["Sunset"] != nil || header["Link"] != nil {
			t.Errorf("operation without a mark: got %v", header)
		}
	}
}
