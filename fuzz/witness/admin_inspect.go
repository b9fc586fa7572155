//go:build unix

package witness

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CheckEdits compares all edits with the running exchange.
func (o *AdminEditor) CheckEdits() {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.objects {
		if !o.inspectObject(t) {
			o.findings.add("admin edits: %s cannot be read", t.path)
		}
	}
	o.checkLogin()
	o.checkTokens()
	o.checkHistory()
	for _, text := range o.findings {
		o.t.Error(text)
	}
	o.findings = nil
}

// inspectObject reads the object's current value and checks it. It returns false without an answer.
func (o *AdminEditor) inspectObject(t *adminObject) (answered bool) {
	switch {
	case t.path == editedList:
		return o.inspectList(t)
	case strings.HasPrefix(t.path, "users/"):
		return o.inspectUser(t)
	}
	_, ok := o.inspectConfigEntry(t)
	return ok
}

func (o *AdminEditor) get(path string, into any) (status int, etag string, ok bool) {
	status, text, header, err := o.requestAdmin("GET", path, nil)
	for deadline := time.Now().Add(o.target.patience); (err != nil || status >= 500) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
		status, text, header, err = o.requestAdmin("GET", path, nil)
	}
	if err != nil || status != http.StatusOK {
		return status, "", err == nil && status == http.StatusNotFound
	}
	if err := json.Unmarshal(text, into); err != nil {
		o.findings.add("admin edits: GET %s: %v: %.300s", path, err, text)
		return status, "", false
	}
	return status, header.Get("ETag"), true
}

func (o *AdminEditor) inspectUser(t *adminObject) (answered bool) {
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
	o.checkSeenValue(t, role)
	return true
}

func (o *AdminEditor) inspectConfigEntry(t *adminObject) (etag string, ok bool) {
	var said struct {
		Owner    string
		Document struct{ Name string }
	}
	_, etag, ok = o.get(t.path, &said)
	if ok {
		o.checkSeenValue(t, said.Document.Name)
	}
	return etag, ok
}

func (o *AdminEditor) inspectList(t *adminObject) (answered bool) {
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
	o.checkSeenValue(t, count)
	return true
}

// checkLogin logs in as one user. One of the user's possible passwords must work, and a deleted
// user must not be able to log in.
func (o *AdminEditor) checkLogin() {
	t := o.objects[o.random.IntN(2)]
	if n := len(t.acknowledged); len(t.possible) == 1 && t.possible[0] == "" {
		if n < 2 || t.acknowledged[n-1] != "" || t.acknowledged[n-2] == "" {
			return
		}
		if status, _, _, _ := o.requestSession(t, t.acknowledged[n-2]); status == http.StatusOK {
			o.findings.add("admin edits: %s was deleted (acknowledged), but can still log in", t.path)
		}
		return
	}
	for _, may := range slices.Clone(t.possible) {
		switch status, _, _, err := o.requestSession(t, may); {
		case err != nil || status != http.StatusOK && status != http.StatusUnauthorized:
			return // the login limit applies
		case status == http.StatusOK:
			t.possible = []string{may}
			return
		}
	}
	o.findings.add("admin edits: %s: the acknowledged edits allow one of %q, but none of these passwords works", t.path, t.possible)
}

// checkTokens compares the list of tokens with the acknowledged ones, and uses one valid and
// one ended token.
func (o *AdminEditor) checkTokens() {
	var said struct {
		Tokens []struct{ ID, Name, User string }
	}
	if _, _, ok := o.get("api-tokens", &said); !ok {
		o.findings.add("admin edits: the tokens cannot be listed")
		return
	}
	there := map[string]bool{}
	for _, one := range said.Tokens {
		there[one.Name] = true
		if !slices.ContainsFunc(o.tokens, func(p *apiToken) bool { return p.name == one.Name && "users/"+one.User == p.user.path }) {
			o.findings.add("admin edits: token %q of %s exists without a request", one.Name, one.User)
		}
	}
	shown := map[string]bool{}
	for _, i := range o.random.Perm(len(o.tokens)) {
		p := o.tokens[i]
		is := map[bool]string{true: tokenValid, false: tokenEnded}[there[p.name]]
		if o.checkSeenValue(&p.adminObject, is); p.text == "" || shown[is] {
			continue
		}
		shown[is] = true
		status, _, _, err := o.requestAdmin("GET", "session", nil, "Authorization", "Bearer "+p.text)
		if err == nil && (status == http.StatusOK) != (is == tokenValid) {
			o.findings.add("admin edits: %s is %s, but a request with it returned status %d", p.path, is, status)
		}
	}
}

// checkHistory compares one configuration entry's history with the acknowledged edits. The
// newest acknowledged versions must be in it, in order, and it must hold no other version.
func (o *AdminEditor) checkHistory() {
	t := o.objects[2+o.random.IntN(4)]
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
		o.findings.add("admin edits: the history of %s cannot be read", t.path)
		return
	}
	var past []string // newest first
	for _, e := range said.Entries {
		if e.Lost {
			o.findings.add("admin edits: the history of %s marks a version as lost", t.path)
		}
		for _, c := range e.Changes {
			var name struct{ Name string }
			switch c.Path {
			case kind + "." + id + ".name":
				_ = json.Unmarshal(c.After, &name.Name)
			case kind + "." + id:
				_ = json.Unmarshal(c.After, &name) // the name stays empty if the change deleted the entry
			default:
				continue
			}
			past = append(past, name.Name)
		}
	}
	if fault := t.describeHistoryFault(past, said.Next != nil && len(past) < 20); fault != "" {
		o.findings.add("admin edits: the history of %s %s: history %q, acknowledged %q", t.path, fault, past, t.acknowledged[max(0, len(t.acknowledged)-checkedVersions):])
	}
}

// checkedVersions is the number of acknowledged versions that checkHistory looks for.
const checkedVersions = 5

// describeHistoryFault returns the fault of a history (newest first), or "". If continues is set,
// the history continues on another page.
func (t *adminObject) describeHistoryFault(newestFirst []string, continues bool) (fault string) {
	if len(newestFirst) > 0 && newestFirst[0] != t.possible[0] || len(newestFirst) == 0 && t.possible[0] != "" && !continues {
		return "does not end with the current version"
	}
	for _, name := range newestFirst {
		if !slices.Contains(t.attempted, name) {
			return "has a version without a request"
		}
	}
	at := 0
	for i := len(t.acknowledged) - 1; i >= 0 && i >= len(t.acknowledged)-checkedVersions; i-- {
		n := slices.Index(newestFirst[at:], t.acknowledged[i])
		if n < 0 && !continues {
			return "lacks an acknowledged version"
		} else if n >= 0 {
			at += n + 1
		}
	}
	return ""
}
