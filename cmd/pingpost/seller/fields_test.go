package seller

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"pingpost/internal/must"
)

func TestRequestFields(t *testing.T) {
	t.Chdir(t.TempDir())
	must.Succeed(t, os.WriteFile("lead.json", []byte(`{"state":"TX","n":1.10,"lead":{"phone":"1","address":{"city":"Ely"}}}`), 0o600))
	for _, row := range []struct{ args, in, want string }{
		{"", "", `{}`},
		{"state=CA", "", `{"state":"CA"}`},
		{"tcpa_consent=true currently_insured=false note=True", "", `{"currently_insured":false,"note":"True","tcpa_consent":true}`},
		{"vehicle_count=2 score=0.870 big=12345678901234567890 low=-1e3", "", `{"big":12345678901234567890,"low":-1e3,"score":0.870,"vehicle_count":2}`},
		{"zip3=941 lead.address.zip=02134 lead.phone=4155550132 auction_id=7", "", `{"auction_id":"7","lead":{"address":{"zip":"02134"},"phone":"4155550132"},"zip3":"941"}`},
		{"code=012 band=25-34 empty= minus=-", "", `{"band":"25-34","code":"012","empty":"","minus":"-"}`},
		{`a:="1" b:=[1,{"c":null}] zip:=9`, "", `{"a":"1","b":[1,{"c":null}],"zip":9}`},
		{"note=a=b u=http://x/?y:=z", "", `{"note":"a=b","u":"http://x/?y:=z"}`},
		{"@lead.json", "", `{"lead":{"address":{"city":"Ely"},"phone":"1"},"n":1.10,"state":"TX"}`},
		{"state=CA @lead.json", "", `{"lead":{"address":{"city":"Ely"},"phone":"1"},"n":1.10,"state":"TX"}`},
		{"@lead.json state=CA lead.address.zip=89301 lead.phone=2", "", `{"lead":{"address":{"city":"Ely","zip":"89301"},"phone":"2"},"n":1.10,"state":"CA"}`},
		{"lead.address.zip=89301 @lead.json", "", `{"lead":{"address":{"city":"Ely","zip":"89301"},"phone":"1"},"n":1.10,"state":"TX"}`},
		{"- a=1", ` {"a":2,"b":{"c":3}} `, `{"a":1,"b":{"c":3}}`},
	} {
		fields, err := parseRequestFields(strings.Fields(row.args), strings.NewReader(row.in))
		if err != nil {
			t.Errorf("%s: %v", row.args, err)
			continue
		}
		if got, err := json.Marshal(fields); string(got) != row.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", row.args, got, err, row.want)
		}
	}
}

func TestInvalidRequestFields(t *testing.T) {
	dir := t.TempDir()
	list, two := filepath.Join(dir, "list.json"), filepath.Join(dir, "two.json")
	for path, text := range map[string]string{list: `[1]`, two: `{} {}`} {
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, row := range []struct{ args, in, want string }{
		{"state", "", `"state" is not a field`},
		{"=CA", "", `"=CA" is not a field`},
		{":=1", "", `":=1" is not a field`},
		{"a:=CA", "", "a:= is not JSON"},
		{"a:=", "", "a:= is not JSON"},
		{".a=1", "", "a field has no name before or after a dot"},
		{"a.=1", "", "a field has no name before or after a dot"},
		{"a..b=1", "", "a field has no name before or after a dot"},
		{"a=1 a.b=2", "", "a is given both as a value and as an object"},
		{"-", "", "standard input is empty; it must have a JSON object"},
		{"-", " \n", "standard input is empty"},
		{"-", "null", "standard input is not one JSON object"},
		{"-", strings.Repeat("1", maxFieldFile+1), "is over 1 MB"},
		{"@" + list, "", "is not one JSON object"},
		{"@" + two, "", "has text after its JSON object"},
		{"@" + filepath.Join(dir, "none.json"), "", "none.json"},
	} {
		_, err := parseRequestFields(strings.Fields(row.args), strings.NewReader(row.in))
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.args, err, row.want)
		}
	}
}

// TestFlagsAmongFields: flags may be anywhere among the fields. After --, all words are
// fields.
func TestFlagsAmongFields(t *testing.T) {
	for _, row := range []struct{ line, fields, key, url string }{
		{"ping", "", "", "http://127.0.0.1:8080"},
		{"ping --key k --url u a=1 b=2", "a=1 b=2", "k", "u"},
		{"ping a=1 b=2 --key k --url u", "a=1 b=2", "k", "u"},
		{"ping a=1 --key k b=2 --url=u - c=3", "a=1 b=2 - c=3", "k", "u"},
		{"ping --key k a=1 --url u", "a=1", "k", "u"},
		{"ping - --key=a=b x=--y", "- x=--y", "a=b", "http://127.0.0.1:8080"},
		{"ping --key k -- --a=1 -", "--a=1 -", "k", "http://127.0.0.1:8080"},
		{"ping a=1 -- --b=1 --key k", "a=1 --b=1 --key k", "", "http://127.0.0.1:8080"},
	} {
		var cli commands
		parser := must.Value(kong.New(&cli))(t)
		for _, command := range []string{"ping", "post"} {
			cli = commands{}
			_, err := parser.Parse(strings.Fields(strings.Replace(row.line, "ping", command, 1)))
			fields, flags := cli.Ping.Fields, cli.Ping.sellerFlags
			if command == "post" {
				fields, flags = cli.Post.Fields, cli.Post.sellerFlags
			}
			if got := strings.Join(fields, " "); err != nil || got != row.fields || flags.Key != row.key || flags.URL != row.url {
				t.Errorf("%s %s: %v, fields %s, key %s, url %s", command, row.line, err, got, flags.Key, flags.URL)
			}
		}
	}
	for _, line := range []string{"ping a=1 --nonsense x b=2", "ping a=1 --key", "post a=1 -x"} {
		parser, _ := kong.New(new(commands))
		if _, err := parser.Parse(strings.Fields(line)); err == nil {
			t.Errorf("%s is accepted, want an error", line)
		}
	}
}
