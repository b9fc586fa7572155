//go:build unix

package witness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// officeList is a suppression list that no campaign asks, so that what is in it changes
// nothing else.
const officeList = "suppression/office_list"

// step does one thing by chance. Each begins with a look, as a careful operator's does;
// where that has no answer nothing is done.
func (o *Office) step() {
	o.turn++
	t := o.things[o.chance.IntN(len(o.things))]
	if o.chance.IntN(3) == 0 {
		t = o.things[o.chance.IntN(2)]
	}
	switch {
	case t.path == officeList:
		o.upload(t)
	case strings.HasPrefix(t.path, "users/") && o.chance.IntN(2) == 0:
		o.paper(t)
	case strings.HasPrefix(t.path, "users/"):
		o.user(t)
	default:
		o.entry(t)
	}
}

// ask asks the admin address. Headers come in pairs.
func (o *Office) ask(method, path string, body io.Reader, headers ...string) (status int, text []byte, header http.Header, err error) {
	o.x.mu.Lock()
	address := o.x.admin
	o.x.mu.Unlock()
	req, err := http.NewRequest(method, address+"/admin/v1/"+path, body)
	if err != nil {
		return 0, nil, nil, err
	}
	if len(headers) == 0 || headers[0] == "If-Match" || headers[0] == "If-None-Match" {
		req.SetBasicAuth("operator", AdminPassword)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, response.Header, err
}

// password is of a user who is as it says.
func password(is string) string { return "of office " + is }

// user makes a user, changes its role or its password, or removes it.
func (o *Office) user(t *thing) {
	if !o.look(t) || len(t.may) > 1 {
		return
	}
	next := fmt.Sprintf("%s %d", []string{"viewer", "operator", "admin"}[o.chance.IntN(3)], o.turn)
	role, _, _ := strings.Cut(next, " ")
	method, path, body := "PUT", t.path, object{"role": role, "password": password(next)}
	if was, _, there := strings.Cut(t.may[0], " "); there {
		switch o.chance.IntN(4) {
		case 0:
			method, body, next = "DELETE", nil, ""
		case 1:
			path, next = path+"/password", fmt.Sprintf("%s %d", was, o.turn)
			body = object{"new": password(next)}
		}
	}
	status, text, _, err := o.ask(method, path, bytes.NewReader(encode(body)))
	v := o.judge(method+" a user", status, text, err)
	t.becomes(next, v)
	for _, p := range o.tokens {
		switch {
		case p.user != t:
		case v == isDone:
			p.may = []string{ended}
		case v == nobodySaid && p.may[0] == good:
			p.may = []string{good, ended}
		}
	}
}

// paper makes a token as a user, or revokes one.
func (o *Office) paper(t *thing) {
	if len(t.may) > 1 || t.may[0] == "" {
		return
	}
	for _, p := range o.tokens {
		if p.user == t && p.id != "" && len(p.may) == 1 && p.may[0] == good && o.chance.IntN(3) == 0 {
			status, text, _, err := o.ask("DELETE", "api-tokens/"+p.id, nil)
			switch o.judge("DELETE a token", status, text, err) {
			case isDone:
				p.may = []string{ended}
			case nobodySaid:
				p.may = append(p.may, ended)
			}
			return
		}
	}
	cookie, csrf, ok := o.logIn(t, t.may[0])
	if !ok {
		return
	}
	p := &paper{user: t, name: fmt.Sprintf("paper %d", o.turn), may: []string{good}}
	status, text, _, err := o.ask("POST", "api-tokens", bytes.NewReader(encode(object{"name": p.name})), "Cookie", cookie, "X-CSRF-Token", csrf)
	if err == nil && status == http.StatusUnauthorized {
		return // a session ends with the exchange's life
	}
	v := o.judge("POST a token", status, text, err)
	if v == notDone {
		return
	}
	var said struct{ Token, ID string }
	if v == nobodySaid {
		p.may = []string{good, ended}
	} else if err := json.Unmarshal(text, &said); err != nil || said.Token == "" {
		o.found.add("the office: a token was made, and is not told: %s", text)
	}
	p.text, p.id = said.Token, said.ID
	o.tokens = append(o.tokens, p)
}

// logIn begins a session; not ok: there is none.
func (o *Office) logIn(t *thing, is string) (cookie, csrf string, ok bool) {
	_, name, _ := strings.Cut(t.path, "/")
	body := encode(object{"name": name, "password": password(is)})
	status, text, header, err := o.ask("POST", "session", bytes.NewReader(body), "Content-Type", "application/json")
	var said struct{ CSRF string }
	if err != nil || status != http.StatusOK || json.Unmarshal(text, &said) != nil {
		if err == nil && status == http.StatusUnauthorized {
			o.found.add("the office: %s is %q, acknowledged, and cannot log in", t.path, is)
		}
		return "", "", false
	}
	cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	return cookie, said.CSRF, true
}

// entry makes an entry of the configuration, changes it, or takes it out.
func (o *Office) entry(t *thing) {
	etag, ok := o.lookAtEntry(t)
	if !ok || len(t.may) > 1 {
		return
	}
	next := fmt.Sprintf("number %d", o.turn)
	body := object{"name": next}
	switch {
	case strings.Contains(t.path, "/buyers/"):
		body["caps"] = []object{{"per": "day", "count": o.turn}}
	case strings.Contains(t.path, "/campaigns/"):
		body["method"], body["buyers"] = "waterfall", []object{{"buyer": Pausable, "price": o.turn}}
	}
	match, with, method := "If-Match", etag, "PUT"
	switch {
	case etag == "":
		match, with = "If-None-Match", "*"
	case o.chance.IntN(4) == 0:
		method, next = "DELETE", ""
	}
	status, text, _, err := o.ask(method, t.path, bytes.NewReader(encode(body)), match, with)
	t.becomes(next, o.judge(method+" an entry", status, text, err))
}

// upload sends a list's contents in pieces; at times it breaks off before the last one,
// and then nothing may have changed.
func (o *Office) upload(t *thing) {
	const at = "config/suppression_lists/office_list"
	var is struct{ ID string }
	_, _, ok := o.get(at, &is)
	if ok && is.ID == "" {
		if t.may[0] != "" {
			o.found.add("the office: the suppression list is gone, and had contents")
		}
		status, text, _, err := o.ask("PUT", at, strings.NewReader(`{"field":"phone"}`), "If-None-Match", "*")
		o.judge("PUT a list", status, text, err)
		return
	}
	if !ok || !o.look(t) || len(t.may) > 1 {
		return
	}
	count, mode, from := o.turn, "replace", 0
	if t.may[0] != "" && o.chance.IntN(3) == 0 {
		mode = "add"
		_, _ = fmt.Sscan(t.may[0], &from)
		count = from + 1 + o.chance.IntN(50)
	}
	breaks := o.chance.IntN(4) == 0
	read := inPieces(from, count, breaks)
	status, text, _, err := o.ask("PUT", t.path+"?mode="+mode, read)
	_ = read.Close()
	if breaks {
		o.done.add("an upload that broke off", "none", 1)
		return
	}
	t.becomes(fmt.Sprint(count), o.judge("PUT an upload", status, text, err))
}

// inPieces are the lines of some numbers, in two pieces with a little time in between, or
// the first of the two and then a fault.
func inPieces(from, to int, breaks bool) *io.PipeReader {
	read, write := io.Pipe()
	go func() {
		for n := from; n < to; n++ {
			if n == from+(to-from)/2 {
				time.Sleep(5 * time.Millisecond)
				if breaks {
					_ = write.CloseWithError(io.ErrUnexpectedEOF)
					return
				}
			}
			_, _ = fmt.Fprintf(write, "+1415%03d%04d\n", 230+n/10_000, n%10_000)
		}
		_ = write.Close()
	}()
	return read
}
