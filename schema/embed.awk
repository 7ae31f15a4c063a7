# Turns text files into one C file: `embedded_files`, an array of name (path below schema/) and text.
# Adjacent string literals, one a source line, so that a compiler's message still points somewhere useful.
BEGIN { print "#include \"schema/schema.h\"\n" }
FNR == 1 {
    if (count) print ";"
    names[++count] = FILENAME
    sub(/^schema\//, "", names[count])
    printf "static const char text_%d[] =\n", count
}
{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    printf "    \"%s\\n\"\n", $0
}
END {
    print ";\n\nconst struct embedded embedded_files[] = {"
    for (i = 1; i <= count; i++) printf "    {\"%s\", text_%d},\n", names[i], i
    print "    {0, 0},\n};"
}
