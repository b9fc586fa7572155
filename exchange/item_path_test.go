package exchange

import "testing"

// TestEntryPathsAreDecodedOnce: an id in a path may be percent-encoded once. A double encoding is
// another id, and ids have no other characters.
func TestEntryPathsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	x.putEntry("buyers/buy%5Fred", redBuyer)
	if got := x.configEntry("buyers/buy_red"); got.ID != "buy_red" || got.ETag != x.configEntry("buyers/%62uy_re%64").ETag {
		t.Errorf("different entries of one id: %+v", got)
	}
	x.putEntry("buyers/%62uy_red", `{"states":["NV"]}`)
	x.mustAdmin(200, "GET", "/admin/v1/buyers/buy%5Fred/funds", "")
	x.mustAdmin(201, "POST", "/admin/v1/suppliers/sup%5Facme/keys", "")
	if used := x.lastUsed("suppliers/sup%5facme/keys"); len(used) != 2 {
		t.Errorf("want two keys, got %v", used)
	}
	x.adminRequest("DELETE", configURL+"buyers/buy%5Fred", "", "If-Match", x.configEntry("buyers/buy_red").ETag).mustHave(t, 200)
	for name, id := range map[string]string{
		"encoded twice": "buy%255Fblue", "a space": "buy%20blue", "a plus": "buy+blue", "a slash": "buy%2Fblue",
		"another script": "b%C3%BCy", "no UTF-8": "buy%FF", "a zero": "buy_blue%00", "spaces around": "%20buy_blue%20",
	} {
		x.mustAdmin(404, "GET", configURL+"buyers/"+id, "").mustFail(t, 404, "not_found")
		if a := x.adminRequest("PUT", configURL+"buyers/"+id, redBuyer, "If-None-Match", "*"); a.status != 422 {
			t.Errorf("%s: PUT: got %d %s, want 422", name, a.status, a.body)
		}
		if a := x.adminRequest("GET", "/admin/v1/buyers/"+id+"/funds", ""); a.status != 404 {
			t.Errorf("%s: funds: got %d %s, want 404", name, a.status, a.body)
		}
	}
	if got := x.mustAdmin(200, "GET", configURL+"buyers", "").body; len(decode[struct{ Items []configEntry }](t, x.mustAdmin(200, "GET", configURL+"buyers", "")).Items) != 1 {
		t.Errorf("want one buyer from the API, got %v", got)
	}
}
