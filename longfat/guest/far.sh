#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# One end of an experiment, on a machine that ssh leads to: far.sh ROLE SILENCE, in a directory of its own
# in which far-job.sh and what that needs are.
#
# It runs far-job.sh, and undoes everything when that has ended; also when its input ends or is
# silent for SILENCE seconds.  The lab sends a byte every few seconds: silence means that the lab,
# its machine or the way to it is gone.  The directory is removed at the end.
#
# Lines of its output:
#
#	ready		far-job.sh is at work
#	failed WHY	it failed
#	files N		N bytes follow, a tar archive of out/
#	left WHAT	this could not be undone
#	clean		everything else was
set -u
role=$1
dir=$(pwd)
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
silence=$2
# Nobody may be there any more to read what is said.
trap '' PIPE HUP

say() {
	echo "$*" 2>/dev/null
}

# The job and all that it started are gone when this has returned.
end_job() {
	[ -s job ] || return
	job=$(cat job)
	# What a connection has not sent when its program ends is sent later.  Over a path that is gone
	# this takes minutes, in which it holds its module.
	if [ -s sockets ] && kill -0 "-$job" 2>/dev/null; then
		ss -tK state established "$(cat sockets)" >/dev/null 2>&1
	fi
	kill -TERM "-$job" 2>/dev/null
	# Its first process stays until it is waited for, by its parent alone.
	(sleep 3 && kill -KILL "-$job" 2>/dev/null) &
	wait "$job" 2>/dev/null
	kill "$!" 2>/dev/null
	i=0
	while kill -0 "-$job" 2>/dev/null && [ "$i" -lt 50 ]; do
		[ "$i" != 20 ] || kill -KILL "-$job" 2>/dev/null
		i=$((i + 1))
		sleep 0.1
	done
}

# Connections that have just ended may hold a module for a moment, and until the kernel gives them
# up where it cannot be told to.  It is tried until /proc/uptime is $late.
unload() {
	while [ -e "/sys/module/$1" ]; do
		why=$(rmmod "$1" 2>&1) && return
		read -r now _ </proc/uptime
		[ "${now%.*}" -lt "$late" ] || {
			say "left the module $1: $why"
			return
		}
		sleep 0.2
	done
}

undo() {
	trap '' TERM INT
	cd "$dir" 2>/dev/null || return # undone already
	end_job
	# Backwards: what was set twice gets its first value back last.
	[ ! -e kept ] || tac kept | while IFS='=' read -r file value; do
		[ ! -e "$file" ] || echo "$value" 2>/dev/null >"$file" || say "left $file, it was $value"
	done
	read -r now _ </proc/uptime
	late=$((${now%.*} + 150))
	[ ! -e loaded ] || tac loaded | while read -r module; do
		unload "$module"
	done
	cd / && rm -rf "$dir"
	say clean
}

locks=${LONGFAT_LOCKS:-/run}
# Who is not root changes nothing that another could.
if [ -w "$locks" ]; then
	exec 9>"$locks/longfat-$role.lock"
	if ! flock -n 9; then
		say "failed another experiment has this machine as its $role"
		cd / && rm -rf "$dir"
		say clean
		exit 1
	fi
fi
trap 'undo; exit 1' TERM INT

# What the shell starts in the background has no input by itself.
exec 3<&0
main=$$
(
	trap - TERM INT
	while kill -0 "$main" 2>/dev/null &&
		byte=$(timeout "$silence" dd bs=1 count=1 <&3 2>/dev/null) && [ "$byte" ]; do
		:
	done
	# Who should undo it may be gone as well.
	kill -TERM "$main" 2>/dev/null || undo
) 9>&- &
watch=$!

setsid sh ./far-job.sh </dev/null 2>job.log 3<&- 9>&- &
job=$!
echo "$job" >job
wait "$job"
status=$?
if [ "$status" = 0 ]; then
	tar -cf out.tar out && say "files $(stat -c %s out.tar)" && cat out.tar
else
	say "failed $(tail -n 3 job.log | tr '\n' ' ')"
fi
# It must not undo it a second time.
kill "$watch" 2>/dev/null
undo
exit "$status"
