package api

import (
	"net/http"
	"strings"
	"testing"
)

// A deprecated operation without dates or instructions is an error.
func TestEndingsSayAll(t *testing.T) {
	for name, row := range map[string]struct{ fields, want string }{
		"no day":            {"externalDocs: {url: x}", "x-deprecated"},
		"no such day":       {"x-deprecated: '2027-02-30', externalDocs: {url: x}", "x-deprecated"},
		"nothing to do":     {"x-deprecated: '2027-01-01'", "externalDocs"},
		"no such end":       {"x-deprecated: '2027-01-01', externalDocs: {url: x}, x-sunset: soon", "x-sunset"},
		"an end too soon":   {"x-deprecated: '2027-01-01', externalDocs: {url: x}, x-sunset: '2027-12-31'", "twelve months"},
		"all of it":         {"x-deprecated: '2027-01-01', externalDocs: {url: x}, x-sunset: '2028-01-01'", ""},
		"the end not known": {"x-deprecated: '2027-01-01', externalDocs: {url: x}", ""},
	} {
		endings, err := ParseDeprecations([]byte("paths:\n  /a:\n    parameters: [{name: b}]\n    get:\n      summary: b\n    put: {\n      deprecated: true, " + row.fields + "}\n"))
		switch {
		case row.want != "":
			if err == nil || !strings.Contains(err.Error(), row.want) || !strings.HasPrefix(err.Error(), "put /a: ") {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || len(endings) != 1 || endings[0].Method != http.MethodPut || endings[0].Path != "/a" || endings[0].Deprecation != "@1798761600":
			t.Errorf("%s: %v, %v", name, endings, err)
		}
	}
}
