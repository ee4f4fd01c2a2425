package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
)

func apikeyCommand() command {
	return command{name: "apikey", verb: "new", summary: "make a key of the server API: hongbao apikey new --name <program> --scopes chat,read", setup: func(fs *flag.FlagSet) func(context.Context, *program) error {
		name := fs.String("name", "", "name of the program that uses the key; a key that replaces another one has the same name")
		scopes := fs.String("scopes", "", "what the key may do, separated by commas: "+scopeNames())
		return func(_ context.Context, p *program) error {
			switch {
			case *name == "":
				return errors.New("whose key? Say --name <program>")
			case *scopes == "":
				return fmt.Errorf("what may the key do? Say --scopes with some of %s", scopeNames())
			}
			return p.newAPIKey(*name, *scopes)
		}
	}}
}

func scopeNames() string {
	words := []string{}
	for _, s := range hostapi.Scopes() {
		words = append(words, string(s))
	}
	return strings.Join(words, ",")
}

// newAPIKey prints a new key. If HONGBAO_API_KEYS_FILE is set, newAPIKey adds the key's line to that file. Otherwise it prints the
// line, too.
func (p *program) newAPIKey(name, scopes string) error {
	var list []hostapi.Scope
	for word := range strings.SplitSeq(scopes, ",") {
		list = append(list, hostapi.Scope(strings.TrimSpace(word)))
	}
	secret, line, err := server.NewKey(name, list)
	if err != nil {
		return err
	}
	file := p.config.APIKeysFile
	if file == "" {
		p.print(fmt.Sprintf("key:  %s\nline: %s\nGive the key to %s, and add the line to the file that HONGBAO_API_KEYS_FILE names.\n", secret, line, name))
		return nil
	}
	if err := addLine(file, line); err != nil {
		return fmt.Errorf("add the key to %s: %w", file, err)
	}
	p.print(secret + "\n")
	return nil
}

// addLine adds a line to the keys file, and creates the file if there is none. If the result is not a valid keys file, addLine
// changes nothing and returns an error. A rename replaces the old file, so no server reads a file that is only partly written.
// After another error the line may be in the file or not; nobody has seen its key then.
func addLine(file, line string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += line + "\n"
	if _, err := server.ParseKeys([]byte(text)); err != nil {
		return err
	}
	return writeDurably(file, text)
}
