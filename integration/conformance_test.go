package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	// testLink is how the page names a test: with a link to its file.
	testLink = regexp.MustCompile("\\[`((?:Test|Fuzz)\\w+)`\\]\\(([^)]+_test\\.go)\\)")
	testName = regexp.MustCompile("`(?:Test|Fuzz)\\w+`")
)

// A page that names tests which do not exist claims what nobody checks.
func TestThePageNamesTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("CONFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	links := testLink.FindAllStringSubmatch(string(page), -1)
	if len(links) < 100 {
		t.Errorf("the page names %d tests, want one or more for each rule", len(links))
	}
	files := map[string]map[string]bool{}
	for _, link := range links {
		test, file := link[1], link[2]
		if files[file] == nil {
			files[file] = functionsOf(t, file)
		}
		if !files[file][test] {
			t.Errorf("%s has no %s", file, test)
		}
	}

	for i, line := range strings.Split(string(page), "\n") {
		named, linked := len(testName.FindAllString(line, -1)), len(testLink.FindAllString(line, -1))
		if named != linked && !strings.Contains(line, t.Name()) {
			t.Errorf("line %d names %d tests and links %d: %s", i+1, named, linked, line)
		}
		isRule := strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| ---") && line != "| Rule | Shown by |"
		if isRule && linked == 0 {
			t.Errorf("line %d has a rule that no test shows: %s", i+1, line)
		}
	}
}

// functionsOf returns the names of the functions in a file.
func functionsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return names
	}
	for _, declaration := range parsed.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil {
			names[f.Name.Name] = true
		}
	}
	return names
}
