//go:build unix

package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// editedList is a suppression list that no campaign uses. Its contents therefore change no
// lead's outcome.
const editedList = "suppression/office_list"

// makeRandomEdit makes one random edit. It inspects the object first, and makes no edit if the
// exchange does not answer.
func (o *AdminEditor) makeRandomEdit() {
	o.lastNumber++
	t := o.objects[o.random.IntN(len(o.objects))]
	if o.random.IntN(3) == 0 {
		t = o.objects[o.random.IntN(2)]
	}
	switch {
	case t.path == editedList:
		o.uploadList(t)
	case strings.HasPrefix(t.path, "users/") && o.random.IntN(2) == 0:
		o.editToken(t)
	case strings.HasPrefix(t.path, "users/"):
		o.editUser(t)
	default:
		o.editConfigEntry(t)
	}
}

// requestAdmin sends a request to the admin API, like SendAdmin.
func (o *AdminEditor) requestAdmin(method, path string, body io.Reader, headers ...string) (status int, text []byte, header http.Header, err error) {
	return SendAdmin(context.Background(), method, o.target.adminURL()+"/admin/v1/"+path, body, headers...)
}

// userPassword returns the password of a user with this value.
func userPassword(value string) string { return "of office " + value }

// editUser creates a user, changes the role or the password, or deletes the user.
func (o *AdminEditor) editUser(t *adminObject) {
	if !o.inspectObject(t) || len(t.possible) > 1 {
		return
	}
	next := fmt.Sprintf("%s %d", []string{"viewer", "operator", "admin"}[o.random.IntN(3)], o.lastNumber)
	role, _, _ := strings.Cut(next, " ")
	method, path, body := "PUT", t.path, Object{"role": role, "password": userPassword(next)}
	if was, _, there := strings.Cut(t.possible[0], " "); there {
		switch o.random.IntN(4) {
		case 0:
			method, body, next = "DELETE", nil, ""
		case 1:
			path, next = path+"/password", fmt.Sprintf("%s %d", was, o.lastNumber)
			body = Object{"new": userPassword(next)}
		}
	}
	status, text, _, err := o.requestAdmin(method, path, bytes.NewReader(Encode(body)))
	v := o.classifyAnswer(method+" a user", status, text, err)
	t.recordResult(next, v)
	for _, p := range o.tokens {
		if p.user == t {
			p.recordResult(tokenEnded, v)
		}
	}
}

// editToken creates a token as a user, or revokes one.
func (o *AdminEditor) editToken(t *adminObject) {
	if len(t.possible) > 1 || t.possible[0] == "" {
		return
	}
	for _, p := range o.tokens {
		if p.user == t && p.id != "" && len(p.possible) == 1 && p.possible[0] == tokenValid && o.random.IntN(3) == 0 {
			status, text, _, err := o.requestAdmin("DELETE", "api-tokens/"+p.id, nil)
			p.recordResult(tokenEnded, o.classifyAnswer("DELETE a token", status, text, err))
			return
		}
	}
	cookie, csrf, ok := o.logIn(t, t.possible[0])
	if !ok {
		return
	}
	name := fmt.Sprintf("paper %d", o.lastNumber)
	p := &apiToken{user: t, name: name, adminObject: adminObject{path: fmt.Sprintf("token %q of %s", name, t.path), possible: []string{tokenEnded}}}
	status, text, _, err := o.requestAdmin("POST", "api-tokens", bytes.NewReader(Encode(Object{"name": p.name})), "Cookie", cookie, "X-CSRF-Token", csrf)
	if err == nil && status == http.StatusUnauthorized {
		return // a session ends when the exchange stops
	}
	v := o.classifyAnswer("POST a token", status, text, err)
	if v == notApplied {
		return
	}
	p.recordResult(tokenValid, v)
	var said struct{ Token, ID string }
	if err := json.Unmarshal(text, &said); v == applied && (err != nil || said.Token == "") {
		o.findings.add("admin edits: the answer to a new token lacks the secret: %s", text)
	}
	p.text, p.id = said.Token, said.ID
	o.tokens = append(o.tokens, p)
}

// requestSession logs in with the password of a user with this value.
func (o *AdminEditor) requestSession(t *adminObject, value string) (status int, text []byte, header http.Header, err error) {
	body := Encode(Object{"name": strings.TrimPrefix(t.path, "users/"), "password": userPassword(value)})
	return o.requestAdmin("POST", "session", bytes.NewReader(body), "Content-Type", "application/json")
}

// logIn opens a session. ok is false if the exchange did not answer or refused the password.
func (o *AdminEditor) logIn(t *adminObject, value string) (cookie, csrf string, ok bool) {
	status, text, header, err := o.requestSession(t, value)
	var said struct{ CSRF string }
	if err != nil || status != http.StatusOK || json.Unmarshal(text, &said) != nil {
		if err == nil && status == http.StatusUnauthorized {
			o.findings.add("admin edits: %s has the acknowledged value %q, but its login was refused", t.path, value)
		}
		return "", "", false
	}
	cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	return cookie, said.CSRF, true
}

// editConfigEntry creates, changes or deletes a configuration entry.
func (o *AdminEditor) editConfigEntry(t *adminObject) {
	etag, ok := o.inspectConfigEntry(t)
	if !ok || len(t.possible) > 1 {
		return
	}
	next := fmt.Sprintf("number %d", o.lastNumber)
	body := Object{"name": next}
	switch {
	case strings.Contains(t.path, "/buyers/"):
		body["caps"] = []Object{{"per": "day", "count": o.lastNumber}}
	case strings.Contains(t.path, "/campaigns/"):
		body["method"], body["buyers"] = "waterfall", []Object{{"buyer": PausableBuyer, "price": o.lastNumber}}
	}
	match, with, method := "If-Match", etag, "PUT"
	switch {
	case etag == "":
		match, with = "If-None-Match", "*"
	case o.random.IntN(4) == 0:
		method, next = "DELETE", ""
	}
	status, text, _, err := o.requestAdmin(method, t.path, bytes.NewReader(Encode(body)), match, with)
	t.recordResult(next, o.classifyAnswer(method+" an entry", status, text, err))
}

// uploadList uploads a list's contents in two parts. Some uploads break off before the second
// part; they must not change the list.
func (o *AdminEditor) uploadList(t *adminObject) {
	const at = "config/suppression_lists/office_list"
	var is struct{ ID string }
	_, _, ok := o.get(at, &is)
	if ok && is.ID == "" {
		if t.possible[0] != "" {
			o.findings.add("admin edits: the suppression list with acknowledged contents is missing")
		}
		status, text, _, err := o.requestAdmin("PUT", at, strings.NewReader(`{"field":"phone"}`), "If-None-Match", "*")
		o.classifyAnswer("PUT a list", status, text, err)
		return
	}
	if !ok || !o.inspectObject(t) || len(t.possible) > 1 {
		return
	}
	count, mode, from := o.lastNumber, "replace", 0
	if t.possible[0] != "" && o.random.IntN(3) == 0 {
		mode = "add"
		_, _ = fmt.Sscan(t.possible[0], &from)
		count = from + 1 + o.random.IntN(50)
	}
	breaks := o.random.IntN(4) == 0
	read := startUploadInTwoParts(from, count, breaks)
	status, text, _, err := o.requestAdmin("PUT", t.path+"?mode="+mode, read)
	_ = read.Close()
	if breaks {
		o.tally.add("broken upload", "no answer expected", 1)
		return
	}
	t.recordResult(fmt.Sprint(count), o.classifyAnswer("PUT an upload", status, text, err))
}

// startUploadInTwoParts returns the phone numbers from..to as a stream with a short pause in the
// middle. If breaks is set, the stream fails after the first half.
func startUploadInTwoParts(from, to int, breaks bool) *io.PipeReader {
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
