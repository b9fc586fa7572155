package public

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
)

var whole = tokenRequest{grant: "client_credentials", scope: "ping post", login: oauthClientLogin{"acme", "s e+c&r=é t"}}

func TestTokenForms(t *testing.T) {
	tests := []struct {
		what, body string
		want       tokenRequest
		bad        httperror.Error
	}{
		{"all of it", "grant_type=client_credentials&client_id=acme&client_secret=s+e%2Bc%26r%3D%C3%A9%20t&scope=ping+post", whole, httperror.Error{}},
		{"in another order, with more", "x=1&scope=ping%20post&client_secret=s+e%2Bc%26r%3D%C3%A9%20t&audience=&client_id=acme&grant_type=client_credentials", whole, httperror.Error{}},
		{"nothing", "", tokenRequest{}, httperror.Error{}},
		{"without values", "grant_type&client_id=&scope", tokenRequest{}, httperror.Error{}},
		{"empty pairs", "&&grant_type=a&&", tokenRequest{grant: "a"}, httperror.Error{}},
		{"an equals sign in a value", "client_secret=a=b", tokenRequest{login: oauthClientLogin{secret: "a=b"}}, httperror.Error{}},
		{"spaces at the ends", "client_id=+a+&client_secret=%20b%20", tokenRequest{login: oauthClientLogin{" a ", " b "}}, httperror.Error{}},
		{"names are exact", "Grant_Type=a&grant-type=b", tokenRequest{}, httperror.Error{}},
		{"names are encoded too", "%67rant_type=a", tokenRequest{grant: "a"}, httperror.Error{}},
		{"a parameter twice", "grant_type=a&grant_type=a", tokenRequest{}, errTokenTwice},
		{"twice, once encoded", "grant_type=a&grant%5Ftype=b", tokenRequest{}, errTokenTwice},
		{"twice, once empty", "scope=ping&scope=", tokenRequest{}, errTokenTwice},
		{"a stranger twice", "grant_type=a&x=1&x=1", tokenRequest{}, errTokenTwice},
		{"half an escape", "client_id=acme%2", tokenRequest{}, errTokenForm},
		{"no escape", "client_id=%zz", tokenRequest{}, errTokenForm},
		{"a semicolon for an ampersand", "grant_type=a;client_id=b", tokenRequest{}, errTokenForm},
		{"32 parameters", "grant_type=a" + strings.Repeat("&", 31), tokenRequest{grant: "a"}, httperror.Error{}},
		{"33", "grant_type=a" + strings.Repeat("&", 32), tokenRequest{}, errTokenForm},
		{"JSON", `{"grant_type":"a"}`, tokenRequest{}, httperror.Error{}},
	}
	for _, test := range tests {
		if got, bad := parseURLEncodedTokenRequest([]byte(test.body)); got != test.want || bad != test.bad {
			t.Errorf("%s: %+v, %v\nwant %+v, %v", test.what, got, bad, test.want, test.bad)
		}
	}
}

func TestTokenObjects(t *testing.T) {
	tests := []struct {
		what, body string
		want       tokenRequest
		code       string
	}{
		{"all of it", `{"grant_type":"client_credentials","client_id":"acme","client_secret":"s e+c&r=é t","scope":"ping post"}`, whole, ""},
		{"escaped, with more", `{"grant\u005ftype":"client_credentials","client_id":"acme","client_secret":"s e+c&r=\u00e9 t","scope":"ping post","x":{"scope":5}}`, whole, ""},
		{"nothing", `{}`, tokenRequest{}, ""},
		{"spaces at the ends", `{"client_id":" a ","client_secret":" b "}`, tokenRequest{login: oauthClientLogin{" a ", " b "}}, ""},
		{"nulls", `{"grant_type":null,"client_id":null,"client_secret":null,"scope":null}`, tokenRequest{}, ""},
		{"a member twice", `{"grant_type":"a","grant_type":"a"}`, tokenRequest{}, "invalid_request"},
		{"a stranger twice", `{"grant_type":"a","x":1,"x":1}`, tokenRequest{}, "invalid_request"},
		{"a number", `{"client_id":5}`, tokenRequest{}, "invalid_request"},
		{"a list of scopes", `{"scope":["ping"]}`, tokenRequest{}, "invalid_request"},
		{"an object", `{"grant_type":{}}`, tokenRequest{}, "invalid_request"},
		{"no object", `["grant_type"]`, tokenRequest{}, "invalid_request"},
		{"a form", `grant_type=client_credentials`, tokenRequest{}, "invalid_request"},
		{"empty", ``, tokenRequest{}, "invalid_request"},
		{"cut short", `{"grant_type":"a`, tokenRequest{}, "invalid_request"},
		{"more after it", `{"grant_type":"a"}{}`, tokenRequest{}, "invalid_request"},
		{"not UTF-8", "{\"scope\":\"\xff\"}", tokenRequest{}, "invalid_request"},
	}
	var object strictjson.Object
	for _, test := range tests {
		got, bad := parseJSONTokenRequest(&object, []byte(test.body))
		if got != test.want || bad.Code != test.code || test.code != "" && bad.Status != 400 {
			t.Errorf("%s: %+v, %v\nwant %+v, %s", test.what, got, bad, test.want, test.code)
		}
	}
}

func basicOf(text string) (oauthClientLogin, bool) {
	var header fasthttp.RequestHeader
	header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(text)))
	return readBasicAuthLogin(&header)
}

func TestBasicLogins(t *testing.T) {
	for text, want := range map[string]oauthClientLogin{
		"a:b": {"a", "b"}, "a:": {"a", ""}, ":b": {"", "b"}, "a:b:c": {"a", "b:c"}, "a%3Ab:c+d%2B": {"a:b", "c d+"},
		"+a+b+:+c+": {" a b ", " c "}, "a%3:b": {}, "a:b%": {}, "a": {}, "": {},
	} {
		if got, shown := basicOf(text); got != want || !shown {
			t.Errorf("%q: %+v, %v", text, got, shown)
		}
	}
	for what, lines := range map[string][]string{
		"another scheme": {"Bearer abc"}, "no base 64": {"Basic !!"}, "empty": {""}, "two of them": {"Basic YTpi", "Basic YTpi"},
	} {
		var header fasthttp.RequestHeader
		for _, line := range lines {
			header.Add("Authorization", line)
		}
		if got, shown := readBasicAuthLogin(&header); !got.isEmpty() || !shown {
			t.Errorf("%s: %+v, %v", what, got, shown)
		}
	}
	if got, shown := readBasicAuthLogin(new(fasthttp.RequestHeader)); shown || !got.isEmpty() {
		t.Errorf("no header: %+v, %v", got, shown)
	}
}
