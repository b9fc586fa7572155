package public

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
	"pgregory.net/rapid"

	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
)

var fullTokenRequest = tokenRequest{grant: "client_credentials", scope: "ping post", login: oauthClientLogin{"acme", "s e+c&r=é t"}}

func TestParseTokenRequestForm(t *testing.T) {
	rows := []struct {
		name, body string
		want       tokenRequest
		bad        httperror.Error
	}{
		{"all parameters", "grant_type=client_credentials&client_id=acme&client_secret=s+e%2Bc%26r%3D%C3%A9%20t&scope=ping+post", fullTokenRequest, httperror.Error{}},
		{"another order, unknown parameters", "x=1&scope=ping%20post&client_secret=s+e%2Bc%26r%3D%C3%A9%20t&audience=&client_id=acme&grant_type=client_credentials", fullTokenRequest, httperror.Error{}},
		{"empty", "", tokenRequest{}, httperror.Error{}},
		{"without values", "grant_type&client_id=&scope", tokenRequest{}, httperror.Error{}},
		{"empty pairs", "&&grant_type=a&&", tokenRequest{grant: "a"}, httperror.Error{}},
		{"an equals sign in a value", "client_secret=a=b", tokenRequest{login: oauthClientLogin{secret: "a=b"}}, httperror.Error{}},
		{"spaces at the ends", "client_id=+a+&client_secret=%20b%20", tokenRequest{login: oauthClientLogin{" a ", " b "}}, httperror.Error{}},
		{"names are case-sensitive", "Grant_Type=a&grant-type=b", tokenRequest{}, httperror.Error{}},
		{"an encoded name", "%67rant_type=a", tokenRequest{grant: "a"}, httperror.Error{}},
		{"a duplicate parameter", "grant_type=a&grant_type=a", tokenRequest{}, errTokenTwice},
		{"a duplicate, once encoded", "grant_type=a&grant%5Ftype=b", tokenRequest{}, errTokenTwice},
		{"a duplicate, once empty", "scope=ping&scope=", tokenRequest{}, errTokenTwice},
		{"an unknown duplicate", "grant_type=a&x=1&x=1", tokenRequest{}, errTokenTwice},
		{"half an escape", "client_id=acme%2", tokenRequest{}, errTokenForm},
		{"an invalid escape", "client_id=%zz", tokenRequest{}, errTokenForm},
		{"a semicolon for an ampersand", "grant_type=a;client_id=b", tokenRequest{}, errTokenForm},
		{"32 parameters", "grant_type=a" + strings.Repeat("&", 31), tokenRequest{grant: "a"}, httperror.Error{}},
		{"33 parameters", "grant_type=a" + strings.Repeat("&", 32), tokenRequest{}, errTokenForm},
		{"JSON", `{"grant_type":"a"}`, tokenRequest{}, httperror.Error{}},
	}
	for _, row := range rows {
		if got, bad := parseURLEncodedTokenRequest([]byte(row.body)); got != row.want || bad != row.bad {
			t.Errorf("%s: %+v, %v\nwant %+v, %v", row.name, got, bad, row.want, row.bad)
		}
	}
}

func TestParseTokenRequestJSON(t *testing.T) {
	rows := []struct {
		name, body string
		want       tokenRequest
		code       string
	}{
		{"all parameters", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s e+c&r=é t","scope":"ping post"}`, fullTokenRequest, ""},
		{"escaped, unknown members", `{"grant\u005ftype":"client_credentials","client_id":"acme","client_secret":"s e+c&r=\u00e9 t","scope":"ping post","x":{"scope":5}}`, fullTokenRequest, ""},
		{"an empty object", `{}`, tokenRequest{}, ""},
		{"spaces at the ends", `{"client_id":" a ","client_secret":" b "}`, tokenRequest{login: oauthClientLogin{" a ", " b "}}, ""},
		{"nulls", `{"grant_type":null,"client_id":null,"client_secret":null,"scope":null}`, tokenRequest{}, ""},
		{"a duplicate member", `{"grant_type":"a","grant_type":"a"}`, tokenRequest{}, "invalid_request"},
		{"an unknown duplicate", `{"grant_type":"a","x":1,"x":1}`, tokenRequest{}, "invalid_request"},
		{"a number", `{"client_id":5}`, tokenRequest{}, "invalid_request"},
		{"a list of scopes", `{"scope":["ping"]}`, tokenRequest{}, "invalid_request"},
		{"an object", `{"grant_type":{}}`, tokenRequest{}, "invalid_request"},
		{"no object", `["grant_type"]`, tokenRequest{}, "invalid_request"},
		{"a form", `grant_type=client_credentials`, tokenRequest{}, "invalid_request"},
		{"empty", ``, tokenRequest{}, "invalid_request"},
		{"cut short", `{"grant_type":"a`, tokenRequest{}, "invalid_request"},
		{"more after the object", `{"grant_type":"a"}{}`, tokenRequest{}, "invalid_request"},
		{"not UTF-8", "{\"scope\":\"\xff\"}", tokenRequest{}, "invalid_request"},
	}
	var object strictjson.Object
	for _, row := range rows {
		got, bad := parseJSONTokenRequest(&object, []byte(row.body))
		if got != row.want || bad.Code != row.code || row.code != "" && bad.Status != 400 {
			t.Errorf("%s: %+v, %v\nwant %+v, %s", row.name, got, bad, row.want, row.code)
		}
	}
}

func parseBasicAuth(text string) (oauthClientLogin, bool) {
	var header fasthttp.RequestHeader
	header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(text)))
	return readBasicAuthLogin(&header)
}

func TestReadBasicAuthLogin(t *testing.T) {
	for text, want := range map[string]oauthClientLogin{
		"a:b": {"a", "b"}, "a:": {"a", ""}, ":b": {"", "b"}, "a:b:c": {"a", "b:c"}, "a%3Ab:c+d%2B": {"a:b", "c d+"},
		"+a+b+:+c+": {" a b ", " c "}, "a%3:b": {}, "a:b%": {}, "a": {}, "": {},
	} {
		if got, present := parseBasicAuth(text); got != want || !present {
			t.Errorf("%q: %+v, %v", text, got, present)
		}
	}
	for name, lines := range map[string][]string{
		"another scheme": {"Bearer abc"}, "no base 64": {"Basic !!"}, "empty": {""}, "two headers": {"Basic YTpi", "Basic YTpi"},
	} {
		var header fasthttp.RequestHeader
		for _, line := range lines {
			header.Add("Authorization", line)
		}
		if got, present := readBasicAuthLogin(&header); !got.isEmpty() || !present {
			t.Errorf("%s: %+v, %v", name, got, present)
		}
	}
	if got, present := readBasicAuthLogin(new(fasthttp.RequestHeader)); present || !got.isEmpty() {
		t.Errorf("no header: %+v, %v", got, present)
	}
}

// Any id and secret arrive as they were sent, in a form, in JSON and by HTTP Basic. Parsing does not
// change the body.
func TestAnyLoginArrivesUnchanged(t *testing.T) {
	var object strictjson.Object
	rapid.Check(t, func(t *rapid.T) {
		sent := oauthClientLogin{rapid.String().Draw(t, "id"), rapid.String().Draw(t, "secret")}
		document, err := json.Marshal(map[string]string{"client_id": sent.id, "client_secret": sent.secret})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range []struct {
			name, body string
			parse      func(body []byte) (tokenRequest, httperror.Error)
		}{
			{"form", url.Values{"client_id": {sent.id}, "client_secret": {sent.secret}}.Encode(), parseURLEncodedTokenRequest},
			{"JSON", string(document), func(body []byte) (tokenRequest, httperror.Error) { return parseJSONTokenRequest(&object, body) }},
		} {
			body := []byte(row.body)
			if got, bad := row.parse(body); got != (tokenRequest{login: sent}) || bad != (httperror.Error{}) || string(body) != row.body {
				t.Errorf("%s %q: got %+v, %v, and the body is now %q", row.name, row.body, got, bad, body)
			}
		}
		if got, _ := parseBasicAuth(url.QueryEscape(sent.id) + ":" + url.QueryEscape(sent.secret)); got != sent {
			t.Errorf("HTTP Basic: got %+v, want %+v", got, sent)
		}
	})
}
