//go:build unix

package witness

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Check looks at all that the office did, of an exchange that serves.
func (o *Office) Check() {
	o.x.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.things {
		if !o.look(t) {
			o.found.add("the office: %s cannot be looked at", t.path)
		}
	}
	o.checkUser()
	o.checkPapers()
	o.checkPast()
	for _, text := range o.found {
		o.x.t.Error(text)
	}
	o.found = nil
}

// look sees what a thing is, and notes it; false: there was no answer.
func (o *Office) look(t *thing) bool {
	switch {
	case t.path == officeList:
		return o.lookAtList(t)
	case strings.HasPrefix(t.path, "users/"):
		return o.lookAtUser(t)
	}
	_, ok := o.lookAtEntry(t)
	return ok
}

func (o *Office) get(path string, into any) (status int, etag string, ok bool) {
	status, text, header, err := o.ask("GET", path, nil)
	if err != nil || status != http.StatusOK {
		return status, "", err == nil && status == http.StatusNotFound
	}
	if err := json.Unmarshal(text, into); err != nil {
		o.found.add("the office: GET %s: %v: %.300s", path, err, text)
		return status, "", false
	}
	return status, header.Get("ETag"), true
}

func (o *Office) lookAtUser(t *thing) bool {
	var said struct{ Users []struct{ Name, Role string } }
	if _, _, ok := o.get("users", &said); !ok {
		return false
	}
	role := ""
	for _, u := range said.Users {
		if "users/"+u.Name == t.path {
			role = u.Role
		}
	}
	o.is(t, role, func(may string) bool { was, _, _ := strings.Cut(may, " "); return was == role })
	return true
}

func (o *Office) lookAtEntry(t *thing) (etag string, ok bool) {
	var said struct {
		Owner    string
		Document struct{ Name string }
	}
	_, etag, ok = o.get(t.path, &said)
	if ok {
		o.is(t, said.Document.Name, func(may string) bool { return may == said.Document.Name })
	}
	return etag, ok
}

func (o *Office) lookAtList(t *thing) bool {
	var said struct {
		Lists []struct {
			ID      string
			Entries int
			Source  *string
		}
	}
	if _, _, ok := o.get("suppression", &said); !ok {
		return false
	}
	count := ""
	for _, l := range said.Lists {
		if "suppression/"+l.ID == t.path && l.Source != nil {
			count = strconv.Itoa(l.Entries)
		}
	}
	o.is(t, count, func(may string) bool { return may == count })
	return true
}

// checkUser has one user log in: with one of the passwords that it may have it has to.
func (o *Office) checkUser() {
	t := o.things[o.chance.IntN(2)]
	_, name, _ := strings.Cut(t.path, "/")
	if len(t.may) == 1 && t.may[0] == "" {
		if len(t.acked) > 1 {
			if was := t.acked[len(t.acked)-2]; was != "" && t.acked[len(t.acked)-1] == "" {
				status, _, _, _ := o.ask("POST", "session", strings.NewReader(string(encode(object{"name": name, "password": password(was)}))), "Content-Type", "application/json")
				if status == http.StatusOK {
					o.found.add("the office: %s was removed, acknowledged, and logs in", t.path)
				}
			}
		}
		return
	}
	for _, may := range slices.Clone(t.may) {
		body := strings.NewReader(string(encode(object{"name": name, "password": password(may)})))
		switch status, _, _, err := o.ask("POST", "session", body, "Content-Type", "application/json"); {
		case err != nil || status != http.StatusOK && status != http.StatusUnauthorized:
			return // it is asked too often
		case status == http.StatusOK:
			t.may = []string{may}
			return
		}
	}
	o.found.add("the office: %s may be one of %q, by what was acknowledged, and logs in as none", t.path, t.may)
}

// checkPapers holds the tokens that there are against those that were acknowledged, and
// shows one of each sort.
func (o *Office) checkPapers() {
	var said struct {
		Tokens []struct{ ID, Name, User string }
	}
	if _, _, ok := o.get("api-tokens", &said); !ok {
		o.found.add("the office: the tokens cannot be listed")
		return
	}
	there := map[string]bool{}
	for _, one := range said.Tokens {
		there[one.Name] = true
		if !slices.ContainsFunc(o.tokens, func(p *paper) bool { return p.name == one.Name && "users/"+one.User == p.user.path }) {
			o.found.add("the office: there is a token %q of %s, which nobody made", one.Name, one.User)
		}
	}
	shown := map[string]bool{}
	for _, i := range o.chance.Perm(len(o.tokens)) {
		p := o.tokens[i]
		is := map[bool]string{true: good, false: ended}[there[p.name]]
		if !slices.Contains(p.may, is) {
			o.found.add("the office: token %q of %s was acknowledged as %q, and is %s", p.name, p.user.path, p.may, is)
		}
		if p.may = []string{is}; p.text == "" || shown[is] {
			continue
		}
		shown[is] = true
		status, _, _, err := o.ask("GET", "session", nil, "Authorization", "Bearer "+p.text)
		if err == nil && (status == http.StatusOK) != (is == good) {
			o.found.add("the office: token %q is %s, and is answered %d", p.name, is, status)
		}
	}
}

// checkPast holds what the history tells of one entry against what was acknowledged of
// it: the last of that is in it, in its order, and nothing that nobody asked for.
func (o *Office) checkPast() {
	t := o.things[2+o.chance.IntN(4)]
	_, rest, _ := strings.Cut(t.path, "/")
	kind, id, _ := strings.Cut(rest, "/")
	var said struct {
		Entries []struct {
			Changes []struct {
				Path  string
				After json.RawMessage
			}
			Lost bool
		}
		Next *string
	}
	if _, _, ok := o.get("config/history?limit=20&kind="+kind+"&id="+id, &said); !ok {
		o.found.add("the office: the history of %s cannot be read", t.path)
		return
	}
	var past []string // the newest first
	for _, e := range said.Entries {
		if e.Lost {
			o.found.add("the office: a version of %s is lost to its history", t.path)
		}
		for _, c := range e.Changes {
			var name struct{ Name string }
			switch c.Path {
			case kind + "." + id + ".name":
				_ = json.Unmarshal(c.After, &name.Name)
			case kind + "." + id:
				_ = json.Unmarshal(c.After, &name) // nothing: it was taken out
			default:
				continue
			}
			past = append(past, name.Name)
		}
	}
	if fault := t.pastFault(past, said.Next != nil && len(past) < 20); fault != "" {
		o.found.add("the office: the history of %s %s: it has %q, and acknowledged was %q", t.path, fault, past, t.acked[max(0, len(t.acked)-pastChecked):])
	}
}

// pastChecked is how many acknowledged versions of an entry its history is asked for.
const pastChecked = 5

// pastFault says what is wrong with a history, the newest first; cut: it goes on.
func (t *thing) pastFault(past []string, cut bool) string {
	if len(past) > 0 && past[0] != t.may[0] || len(past) == 0 && t.may[0] != "" && !cut {
		return "does not end with what is in force"
	}
	for _, name := range past {
		if !slices.Contains(t.tried, name) {
			return "has what nobody asked for"
		}
	}
	at := 0
	for i := len(t.acked) - 1; i >= 0 && i >= len(t.acked)-pastChecked; i-- {
		n := slices.Index(past[at:], t.acked[i])
		if n < 0 && !cut {
			return "lacks what was acknowledged"
		} else if n >= 0 {
			at += n + 1
		}
	}
	return ""
}
