package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"pingpost/outbound/dial/dialtest"
)

// TestAdminCommandErrors: a command names the cause if the address or its answer is wrong.
func TestAdminCommandErrors(t *testing.T) {
	t.Parallel()
	s := startServe(t, "-c", writeConfig(t, testConfig))
	public, admin := s.addresses("production")
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such page", http.StatusNotFound) }))
	defer plain.Close()
	nonsense := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer nonsense.Close()
	file := writeConfig(t, testConfig)
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"a wrong password":   {[]string{"export", "--admin", admin, "--password", "wrong"}, "password"},
		"no password":        {[]string{"export", "--admin", admin, "--password", ""}, "password"},
		"the other address":  {[]string{"export", "--admin", public}, "There is no such path"},
		"another server":     {[]string{"export", "--admin", plain.URL}, "404"},
		"no server":          {[]string{"export", "--admin", "http://" + dialtest.UnusedAddress(t)}, "cannot reach the exchange"},
		"no address":         {[]string{"export", "--admin", "nowhere at all"}, "nowhere"},
		"no scheme":          {[]string{"export", "--admin", "127.0.0.1:9090"}, "begin it with http:// or https://"},
		"no person to erase": {[]string{"erase", "--admin", admin}, "name the person to erase"},
		"an empty number":    {[]string{"erase", "--admin", admin, "--phone="}, "name the person to erase"},
		"an empty answer":    {[]string{"diff", "--admin", nonsense.URL, file}, "cannot read the exchange's answer"},
	} {
		t.Run(name, func(t *testing.T) { mustFail(t, row.want, row.args...) })
	}
}
