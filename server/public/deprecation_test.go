package public

import (
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/server/apidocs"
	"pingpost/server/servertest"
)

// TestDeprecatedOperationsSaySo: whatever the document marks, answers of it have the
// headers; and what it does not mark has none.
func TestDeprecatedOperationsSaySo(t *testing.T) {
	if apidocs.LoadDeprecations(api.PublicYAML()) != nil {
		t.Error("something is deprecated, and docs/versioning.md says that nothing is")
	}
	for name, row := range map[string]struct {
		fields string
		sunset []string
	}{"with an end": {servertest.DeprecatedWithSunset, []string{"Tue, 01 Feb 2028 00:00:00 GMT"}}, "without one yet": {servertest.Deprecated, nil}} {
		d := open(t)
		d.opt.Sandbox, d.deprecations = true, servertest.DeprecateAll(t, api.PublicYAML(), row.fields)
		if len(d.deprecations) < 13 {
			t.Fatalf("%d operations", len(d.deprecations))
		}
		for operation := range d.deprecations {
			method, path, _ := strings.Cut(operation, " ")
			if status, header := servertest.CallHandler(d.handleRequest, method, path, ""); !servertest.IsDeprecated(header, row.sunset...) {
				t.Errorf("%s, %s: %d %v", name, operation, status, header)
			}
		}
		if status, header := servertest.CallHandler(d.handleRequest, "GET", "/api/v1/ingest", ""); status != 405 || header["Deprecation"] != nil {
			t.Errorf("what is no operation: %d %v", status, header)
		}
		d.deprecations = apidocs.Deprecations{"POST /v1/ping": d.deprecations["POST /v1/ping"]}
		if _, header := servertest.CallHandler(d.handleRequest, "POST", "/v1/post", ""); header["Deprecation"] != nil || header["Sunset"] != nil || header["Link"] != nil {
			t.Errorf("what is not deprecated: %v", header)
		}
	}
}
