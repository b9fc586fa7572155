package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
)

// workMark begins the name of all that an operator makes, with a number behind it that
// nothing else has: so an answer, or an entry, says of itself what it is of. A buyer is
// made as an entry of the configuration, which is a file beside the log.
const workMark = "work_"

// worksList is a suppression list of an operator's. The number of its lines is that of
// the work.
const worksList = workMark + "list"

var (
	userMade   = regexp.MustCompile(`^\{"name":"(` + workMark + `\d+)"`)
	entryMade  = regexp.MustCompile(`^\{"etag":"[^"]*","changes":\["\+ buyers\[(` + workMark + `\d+)\]`)
	listFilled = regexp.MustCompile(`^\{"entries":(\d+),"duplicates":`)
)

// workIn is what an answer says that an operator made; "": nothing.
func workIn(body []byte) string {
	for kind, is := range map[string]*regexp.Regexp{"user ": userMade, "buyer ": entryMade, "list of ": listFilled} {
		if found := is.FindSubmatch(body); found != nil {
			return kind + string(found[1])
		}
	}
	return ""
}

// name notes a buyer that is given a number, which an entry of the configuration does.
func (f *facts) name(id string) {
	if strings.HasPrefix(id, workMark) {
		f.naming = append(f.naming, "buyer "+strings.Clone(id))
	}
}

// configured notes that what was named before an entry is in force from it on: one work
// is done after the other, so it is the first configuration behind the name that has it.
// Of one that was broken off after its name nobody was told anything.
func (f *facts) configured(seq uint64) {
	for _, made := range f.naming {
		f.made[made] = seq
	}
	f.naming = nil
}

// operate has an operator make a user, an entry, and a list's contents.
func (r *recording) operate(ctx context.Context, p *process) error {
	next := func() string {
		r.works++
		return fmt.Sprint(workMark, r.works)
	}
	user, buyer := next(), next()
	err := errors.Join(
		p.put(ctx, "users/"+user, `{"role":"viewer","password":"the password of `+user+`"}`),
		p.put(ctx, "config/buyers/"+buyer, `{"caps":[{"per":"day","count":7}]}`, "If-None-Match", "*"),
		p.put(ctx, "config/suppression_lists/"+worksList, `{"field":"phone"}`, "If-None-Match", "*"),
	)
	r.works++
	var lines strings.Builder
	for n := range r.works {
		fmt.Fprintf(&lines, "+1415777%04d\n", n)
	}
	return errors.Join(err, p.put(ctx, "suppression/"+worksList, lines.String()))
}

// put asks the admin address for something that is done, or was already.
func (p *process) put(ctx context.Context, path, body string, header ...string) error {
	_, err := p.admit(ctx, http.MethodPut, path, body, header...)
	return err
}

// admit asks the admin address for something that has to be answered well, or as done
// already.
func (p *process) admit(ctx context.Context, method, path, body string, header ...string) (text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, p.admin+"/admin/v1/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth("operator", adminPassword)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 && response.StatusCode != http.StatusConflict {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	return text, err
}

// worksOf sees that an exchange which has come back has all that operators were told that
// they made, up to a tick of a life.
func (r *recording) worksOf(ctx context.Context, p *process, life, tick int) error {
	users, err := p.admit(ctx, http.MethodGet, "users", "")
	if err != nil {
		return err
	}
	buyers, err := p.admit(ctx, http.MethodGet, "config/buyers", "")
	if err != nil {
		return err
	}
	for _, l := range r.lives[:life+1] {
		for i := range l.acks {
			kind, name, _ := strings.Cut(l.acks[i].made, " ")
			in := map[string][]byte{"user": users, "buyer": buyers}[kind]
			if in != nil && l.acks[i].tick <= tick && !bytes.Contains(in, []byte(`"`+name+`"`)) {
				return fmt.Errorf("that an operator made %s was told, and after the loss it is not there", l.acks[i].made)
			}
		}
	}
	return nil
}
