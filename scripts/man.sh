#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# man.sh tcp_NAME.c: the module's manual page (mdoc), on the standard output.
#
# All of it comes from the source: the header comment is the description, LF_PARAM_ lines
# are the parameters, LF_TRACE_ and the comments around them the trace event.
set -eu

[ -r "${1:-}" ] || {
	echo "man.sh: no source file '${1:-}'" >&2
	exit 1
}
date=$(LC_ALL=C date -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$1")}" '+%B %-d, %Y')
here=$(cd "$(dirname "$1")" && pwd)
others=$(cd "$here" && echo tcp_*.c)

exec awk -v date="$date" -v others="$others" -v module="$(basename "$1" .c)" '
function escaped(s) {
	gsub(/\^/, "\\(ha", s)
	gsub(/~/, "\\(ti", s)
	return s ~ /^[.'\'']/ ? "\\&" s : s
}

# Filled text, each sentence on a line of its own, none longer than 80 bytes.
function text(s,    parts, n, i, at) {
	sub(/^ +/, "", s)
	gsub(/\(\)/, "\\\\\\&()", s)
	n = split(s, parts, /\.  +/)
	for (i = 1; i <= n; i++) {
		s = escaped(parts[i] (i < n ? "." : ""))
		for (at = 78; length(s) > 78; at--)
			if (substr(s, at, 1) == " ") {
				print substr(s, 1, at - 1)
				s = substr(s, at + 1)
				at = 79
			}
		print s
	}
}

function between(name) {
	if (name != "literal" && in_literal) {
		print ".Ed"
		in_literal = 0
		if (name == "text" || name == "same")
			print ".Pp"
		blank = 0
	}
	if (name != "literal" && name != "same" && name != "item" && in_list) {
		print ".El"
		in_list = 0
		blank = name == "text"
	}
}

# A line of the header comment after its title, without " *".
function describe(s) {
	if (s == "") {
		blank = 1
	} else if (s ~ /^\t/) {
		if (!in_literal)
			print ".Bd -literal -offset indent"
		else if (blank)
			print ""
		in_literal = 1
		blank = 0
		sub(/^\t/, "", s)
		print escaped(s)
	} else if (s ~ /^ Differences from the /) {
		between("section")
		print ".Sh " toupper(substr(s, 2))
		blank = 0
	} else if (s ~ /^ ? ?[0-9]+\. / && s !~ /^ [^ 0-9]/) {
		between("item")
		if (!in_list)
			print ".Bl -enum"
		in_list = 1
		blank = 0
		print ".It"
		sub(/^ *[0-9]+\. +/, "", s)
		text(s)
	} else if (s ~ /^     / && in_list) {
		between("same")
		text(s)
	} else {
		between("text")
		if (sub(/^ Notes\. +/, "", s))
			print ".Sh NOTES"
		else if (blank)
			print ".Pp"
		blank = 0
		text(s)
	}
}

function begin(title,    name) {
	name = title
	sub(/:.*/, "", name)
	sub(/^[^:]*: */, "", title)
	print ".\\\" Made by scripts/man.sh from " module ".c."
	print ".Dd " date
	print ".Dt " toupper(module) " 4"
	print ".Os"
	print ".Sh NAME"
	print ".Nm " module
	print ".Nd " escaped(title)
	print ".Sh SYNOPSIS"
	print ".Bd -literal"
	print "modprobe " module " [parameter=value ...]"
	print "sysctl net.ipv4.tcp_congestion_control=" algorithm
	print "setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, \"" algorithm "\", " \
		length(algorithm) ");"
	print ".Ed"
	print ".Sh DESCRIPTION"
	print "The congestion control"
	print ".Cm " algorithm
	print "for Linux TCP, " escaped(name) "."
	print ".Pp"
}

# name init lo hi "what"; name init "what", "choice"...; name init "what"
function parameter(s,    kind, words, n, quoted, i, valid) {
	match(s, /^LF_PARAM_[A-Z]+/)
	kind = substr(s, 10, RLENGTH - 9)
	sub(/^[^(]*\(/, "", s)
	n = split(s, quoted, "\"")
	gsub(/[ \t]/, "", quoted[1])
	split(quoted[1], words, ",")
	if (kind == "UINT") {
		valid = words[3] " to " words[4] ", default " words[2]
	} else if (kind == "BOOL") {
		valid = "Y or N, default " (words[2] ? "Y" : "N")
	} else {
		for (i = 4; i < n; i += 2)
			valid = valid (i > 4 ? ", " : "") quoted[i]
	}
	parameters[++n_parameters] = ".It Cm " words[1] " Pq " valid "\n" escaped(quoted[2]) "."
}

{ line[NR] = $0 }

END {
	for (i = 1; i <= NR; i++)
		if (line[i] ~ /^[ \t{]*\.name[ \t]*=/ && algorithm == "") {
			split(line[i], part, "\"")
			algorithm = part[2]
		}

	# The header comment: after the licence, up to its end.
	sub(/^ \* /, "", line[3])
	begin(line[3])
	for (i = 5; line[i] != " */"; i++) {
		sub(/^ \*/, "", line[i])
		describe(line[i])
	}
	between("section")

	for (; i <= NR; i++) {
		# Of an enumeration: what a reason means.
		if (match(line[i], /^\t[A-Z_0-9]+,\t*\/\* /)) {
			name = line[i]
			sub(/^\t/, "", name)
			sub(/,.*/, "", name)
			meaning[name] = substr(line[i], RLENGTH + 1)
			sub(/ *\*\/$/, "", meaning[name])
		}
		if (line[i] ~ /^#define LF_TRACE_(REASONS|FIELDS)/) {
			all = ""
			for (j = i; line[j] ~ /\\$/; j++)
				all = all line[j]
			all = all line[j]
			if (line[i] ~ /REASONS/)
				reasons = all
			else
				fields = all
			# The comment above the fields.
			if (line[i] ~ /FIELDS/ && line[i - 1] ~ /\*\/$/) {
				for (j = i - 1; line[j] !~ /\/\*/; j--)
					;
				for (; j < i; j++) {
					s = line[j]
					gsub(/^ *\/?\* ?| *\*\/$/, "", s)
					if (s != "")
						told[++n_told] = s
				}
			}
		}
		if (line[i] ~ /^LF_PARAM_/) {
			all = ""
			for (j = i; line[j] !~ /\);$/; j++)
				all = all line[j]
			parameter(all line[j])
		}
	}

	print ".Sh PARAMETERS"
	print "They are read and, by root, written in"
	print ".Pa /sys/module/" module "/parameters ;"
	print "a value outside of its range is refused, and the kernel log says what is valid."
	print ".Bl -tag -width Ds"
	for (i = 1; i <= n_parameters; i++)
		print parameters[i]
	print ".El"

	print ".Sh TRACE EVENT"
	print ".Cm longfat:" algorithm
	print "has the fields that the events of all of these modules have (ports, addresses,"
	print "reason, cwnd, ssthresh, srtt_us, min_rtt_us) and"
	n = split(fields, part, /F\(/)
	list = ""
	for (i = 2; i <= n; i++) {
		sub(/\).*/, "", part[i])
		sub(/^[a-z0-9]+, */, "", part[i])
		list = list (i > 2 ? ", " : "") part[i]
	}
	print list ":"
	for (i = 1; i <= n_told; i++)
		text(told[i])
	print ".Pp"
	print "Reasons:"
	print ".Bl -tag -width absorbed -compact"
	n = split(reasons, part, /\{ */)
	for (i = 2; i <= n; i++) {
		split(part[i], word, /, *"|"/)
		print ".It Cm " word[2]
		if (word[1] in meaning)
			text(meaning[word[1]])
	}
	print ".El"

	print ".Sh ERRORS"
	print "Choosing"
	print ".Cm " algorithm
	print "without CAP_NET_ADMIN fails with"
	print ".Er EPERM"
	print "unless the sysctl net.ipv4.tcp_allowed_congestion_control names it, and with"
	print ".Er ENOENT"
	print "if the module is not there."
	print ".Sh SEE ALSO"
	print ".Xr longfat 1 ,"
	n = split(others, part, " ")
	for (i = 1; i <= n; i++) {
		sub(/\.c$/, "", part[i])
		if (part[i] != module && part[i] !~ /\.mod$/)
			print ".Xr " part[i] " 4 ,"
	}
	print ".Xr tcp 7 ,"
	print ".Xr ss 8 ,"
	print ".Xr sysctl 8"
}
' "$1"
