package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
	"pingpost/config/schema"
	"pingpost/config/syntax"
)

func TestExpand(t *testing.T) {
	env := lookup(map[string]string{"A": "1", "B_2": "two", "NEST": "${A}", "EMPTY": ""})
	for _, c := range []struct{ in, out, err string }{
		{"plain", "plain", ""},
		{"${A}", "1", ""},
		{"x${A}y${B_2}z", "x1ytwoz", ""},
		{"$A {A} $", "$A {A} $", ""},
		{"$${A}", "${A}", ""},
		{"$$${A}", "$${A}", ""},
		{"$${A}${A}", "${A}1", ""},
		{"${NEST}", "${A}", ""}, // values are not expanded again
		{"[${EMPTY}]", "[]", ""},
		{"é${A}", "é1", ""},
		{"${C}", "", "variable C"},
		{"${A", "", "closing brace"},
		{"${}", "", "variable's name"},
		{"${2A}", "", "variable's name"},
		{"${A-B}", "", "variable's name"},
	} {
		out, _, err := syntax.ExpandVariables(c.in, env)
		if c.err == "" && (err != nil || out != c.out) {
			t.Errorf("%q: %q, %v; want %q", c.in, out, err, c.out)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %v; want an error with %q", c.in, err, c.err)
		}
	}
}

// TestEscapedTextIsNotExpanded: the canonical document relies on the escape $${.
func TestEscapedTextIsNotExpanded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("$${}Aé \n"))).Draw(t, "text")
		out, expanded, err := syntax.ExpandVariables(strings.ReplaceAll(text, "${", "$${"), lookup(nil))
		if err != nil || out != text || expanded {
			t.Fatalf("%q is expanded to %q, %v", text, out, err)
		}
	})
}

// TestVariablesInYAML: variables work in every scalar, and their values cannot change the
// document's structure.
func TestVariablesInYAML(t *testing.T) {
	secret := "x, tenant: evil}\n- \"'#"
	text := `admin: {password: ${P}, listen: "a:1"}
suppliers:
- id: a
  name: '${N} and ${N}'
  oauth_clients: [{client_id: c, client_secret: ${P}}, {client_id: d, client_secret: "${P}"}]
  api_key: ${P}   # ${NOT_SET} in a comment
`
	source, err := Parse("x", []byte(text), lookup(map[string]string{"P": secret, "N": "n"}))
	if err != nil {
		t.Fatal(err)
	}
	d := source.Document
	if d.Tenant != "production" || d.Admin.Listen != "a:1" || d.Suppliers[0].Name != "n and n" {
		t.Errorf("a value changed the document's structure: %+v", d)
	}
	for i, s := range []schema.Secret{d.Admin.Password, d.Suppliers[0].APIKey, d.Suppliers[0].OAuthClients[0].ClientSecret, d.Suppliers[0].OAuthClients[1].ClientSecret} {
		if s.Reveal() != secret {
			t.Errorf("secret %d is %q", i, s.Reveal())
		}
	}
}

func TestPositionsAfterVariables(t *testing.T) {
	_, err := Parse("x", []byte("admin: {password: \"é${P}\", lisen: a}\n"), lookup(map[string]string{"P": strings.Repeat("long", 100)}))
	if err == nil || !strings.HasPrefix(err.Error(), "x:1:28: admin.lisen: unknown key") {
		t.Errorf("got %v", err)
	}
}
