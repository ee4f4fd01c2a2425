package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// checkerModules are the scripts of docs/verify.html below page. A module stands behind those that it imports.
var checkerModules = []string{
	"static/sdk/sha256.js", "static/sdk/words.js", "static/sdk/split.js", "static/sdk/verify.js", "static/sdk/draw.js", "static/sdk/proof.js",
	"checker/texts.js", "checker/checker.js",
}

var (
	importLine = regexp.MustCompile(`(?m)^import (\{[^}]*\}) from '[./\w]*?(\w+)\.js';$`)
	exportLine = regexp.MustCompile(`(?m)^export ((?:async )?function|class|const) (\w+)`)
	otherLine  = regexp.MustCompile(`(?m)^(import|export)\b.*$`)
)

// checkerPage returns docs/verify.html, which checks proofs of packets. It is one file that works without a server, so it holds the
// modules of the SDK that it needs. Its policy allows its own script and style only: it cannot send anything.
func checkerPage(web string) ([]byte, error) {
	files := os.DirFS(filepath.Join(web, "page"))
	read := func(name string) (string, error) {
		text, err := fs.ReadFile(files, name)
		return string(text), err
	}
	var script strings.Builder
	script.WriteString("'use strict';\n")
	for _, name := range checkerModules {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		if text, err = inlined(name, text); err != nil {
			return nil, err
		}
		script.WriteString(text)
	}
	style, err := read("checker/style.css")
	if err != nil {
		return nil, err
	}
	page, err := read("checker/page.html")
	if err != nil {
		return nil, err
	}
	policy := fmt.Sprintf("default-src 'none'; img-src data:; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", sourceHash(script.String()), sourceHash(style))
	return []byte(strings.NewReplacer("{{policy}}", policy, "{{style}}", style, "{{script}}", script.String()).Replace(page)), nil
}

// inlined turns a module into a function that returns what the module exports.
func inlined(name, text string) (string, error) {
	module := func(base string) string { return base + "Module" }
	exports := make([]string, 0, 8)
	for _, m := range exportLine.FindAllStringSubmatch(text, -1) {
		exports = append(exports, m[2])
	}
	text = importLine.ReplaceAllString(text, "const $1 = "+module("${2}")+";")
	text = exportLine.ReplaceAllString(text, "$1 $2")
	if left := otherLine.FindString(text); left != "" {
		return "", fmt.Errorf("%s: cannot put %q into one file", name, left)
	}
	if strings.Contains(strings.ToLower(text), "</script") {
		return "", fmt.Errorf("%s ends the script of the page that it is put into", name)
	}
	base := strings.TrimSuffix(path.Base(name), ".js")
	return fmt.Sprintf("\n// %s\nconst %s = (() => {\n%s\nreturn { %s };\n})();\n", name, module(base), strings.TrimSpace(text), strings.Join(exports, ", ")), nil
}

// sourceHash returns the hash by which a Content-Security-Policy allows a script or style.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
