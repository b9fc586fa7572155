package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lead.json", []byte(`{"state":"TX","n":1.10,"lead":{"phone":"1","address":{"city":"Ely"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
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
		fields, err := parseFields(strings.Fields(row.args), strings.NewReader(row.in))
		if err != nil {
			t.Errorf("%s: %v", row.args, err)
			continue
		}
		if got, err := json.Marshal(fields); string(got) != row.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", row.args, got, err, row.want)
		}
	}
}

func TestWrongFields(t *testing.T) {
	dir := t.TempDir()
	list, two := filepath.Join(dir, "list.json"), filepath.Join(dir, "two.json")
	for path, text := range map[string]string{list: `[1]`, two: `{} {}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ args, in, want string }{
		{"state", "", `"state" is no field`},
		{"=CA", "", `"=CA" is no field`},
		{":=1", "", `":=1" is no field`},
		{"a:=CA", "", "a:= is not JSON"},
		{"a:=", "", "a:= is not JSON"},
		{".a=1", "", "name is missing"},
		{"a.=1", "", "name is missing"},
		{"a..b=1", "", "name is missing"},
		{"a=1 a.b=2", "", "a is given as a value and as an object"},
		{"-", "", "standard input is not one JSON object"},
		{"-", "null", "standard input is not one JSON object"},
		{"-", strings.Repeat(" ", maxFieldFile+1), "larger than a body can be"},
		{"@" + list, "", "is not one JSON object"},
		{"@" + two, "", "something after its JSON object"},
		{"@" + filepath.Join(dir, "none.json"), "", "none.json"},
	} {
		_, err := parseFields(strings.Fields(row.args), strings.NewReader(row.in))
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.args, err, row.want)
		}
	}
}
