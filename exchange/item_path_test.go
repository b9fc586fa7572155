package exchange

import "testing"

// TestPathsAreDecodedOnce: an id in a path is the same however it is written, and what
// is written twice over is another, as is one with a character that no id has.
func TestPathsAreDecodedOnce(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	x.put("buyers/buy%5Fred", redBuyer)
	if got := x.item("buyers/buy_red"); got.ID != "buy_red" || got.ETag != x.item("buyers/%62uy_re%64").ETag {
		t.Errorf("%+v", got)
	}
	x.put("buyers/%62uy_red", `{"states":["NV"]}`)
	x.must(200, "GET", "/admin/v1/buyers/buy%5Fred/funds", "")
	x.must(201, "POST", "/admin/v1/suppliers/sup%5Facme/keys", "")
	if used := x.lastUsed("suppliers/sup%5facme/keys"); len(used) != 2 {
		t.Errorf("%v", used)
	}
	x.operate("DELETE", configAt+"buyers/buy%5Fred", "", "If-Match", x.item("buyers/buy_red").ETag).mustHave(t, 200)
	for what, id := range map[string]string{
		"encoded twice": "buy%255Fblue", "a space": "buy%20blue", "a plus": "buy+blue", "a slash": "buy%2Fblue",
		"another script": "b%C3%BCy", "no UTF-8": "buy%FF", "a zero": "buy_blue%00", "spaces around": "%20buy_blue%20",
	} {
		x.must(404, "GET", configAt+"buyers/"+id, "").mustFail(t, 404, "not_found")
		if a := x.operate("PUT", configAt+"buyers/"+id, redBuyer, "If-None-Match", "*"); a.status != 422 {
			t.Errorf("%s: PUT %d %s", what, a.status, a.body)
		}
		if a := x.operate("GET", "/admin/v1/buyers/"+id+"/funds", ""); a.status != 404 {
			t.Errorf("%s: its funds %d %s", what, a.status, a.body)
		}
	}
	if got := x.must(200, "GET", configAt+"buyers", "").body; len(decode[struct{ Items []item }](t, x.must(200, "GET", configAt+"buyers", "")).Items) != 1 {
		t.Error(got)
	}
}
